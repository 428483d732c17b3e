"""The map of the five documents names every section of them, and only what exists."""

from __future__ import annotations

import re

import pytest

from docs.generate import five_documents
from docs.generate.pages import PAGES
from kwalk.clusters.lab.experiments import EXPERIMENTS
from kwalk.invariants.stories import SCENARIOS
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "reference" / "sources.md"
SECTIONS_PAGE = five_documents.page()
PARTS = dict(re.findall(r"^## (\d{3}): [^\n]*\n(.*?)(?=^## |\Z)", SECTIONS_PAGE, re.M | re.S))
LINES = {number: [line for line in part.splitlines() if line.startswith("| ")][1:] for number, part in PARTS.items()}
ROWS = {document: [[cell.strip() for cell in line.split("|")[1:-1]] for line in LINES[document]] for document in LINES}
ALL = [row for rows in ROWS.values() for row in rows]
SCENARIO = {scenario.name: {prop.name for prop in scenario.properties} for scenario in SCENARIOS}
NO_MODEL = ("out of scope: ", "not in the model: ", "being modelled")
SECTIONS = {
    "000": (
        "删除Topic命令",
        "1. 客户端发起删除Topic的请求",
        "2. Controller处理deleteTopics的请求",
        "3. Controller监听zk变更 执行删除Topic流程",
        "3.1 resumeDeletions 执行删除方法",
        "3.2 TopicDeletionManager.onPartitionDeletion",
        "4. Brokers 接受StopReplica请求",
        "4.1 日志清理定时线程",
        "5.StopReplica 请求成功 执行回调接口",
        "6. Controller启动时候 尝试继续处理待删除的Topic",
        "6.1 获取需要被删除的Topic和暂时不能删除的Topic",
        "6.2 topicDeletionManager.init初始化删除管理器",
        "6.3 topicDeletionManager.tryTopicDeletion尝试恢复删除",
        "源码总结",
        "什么时候在/admin/delete_topics写入节点的",
        "什么时候真正执行删除Topic磁盘日志",
        "为什么正在重新分配的Topic不能被删除",
        "如果在`/admin/delete_topics/`中手动写入一个节点会不会正常删除",
        "如果直接删除ZK上的`/brokers/topics/{topicName}`节点会怎样",
        "Controller通知Brokers 执行StopReplica是通知所有的Broker还是只通知跟被删除Topic有关联的Broker?",
        "删除过程有Broker不在线 或者执行失败怎么办",
        "ReplicaStateMachine 副本状态机",
        "在重新分配的过程中,如果执行删除操作会怎么样",
    ),
    "001": (
        "Kafka删除topic的方法",
        "kafka集群服务broker扩容",
        "第一部分:zk节点的扩容",
        "第二部分:kafka节点的扩容",
        "第三部分:对存在风险broker节点的数据迁移",
        "第四部分: 对node2 node3下线操作",
        "可能遇到的问题",
        "kafka-configs.sh命令行使用方法",
        "Kafka 日志存储的问题",
        "LogSegment",
        "日志与索引文件",
        "切分文件",
        "为什么是 Integer.MAX_VALUE ?",
        "索引文件切分过程",
        "offset 查询",
        "时间戳方式查询",
        "日志清理",
        "日志删除",
        "基于时间",
        "基于日志大小",
        "基于日志起始偏移量",
        "1 启动advertised.listeners配置异常",
        "2 启动PrintGCDateStamps异常",
        "3 生成者发送message失败或消费者不能消费(kafka1.0.1)",
        "4 partitions配置的值过小造成错误(kafka1.0.1)",
    ),
    "002": (
        "1. KafkaController简介",
        "2. ControllerContext",
        "3. ControllerChannelManager",
        "4. ControllerBrokerRequestBatch",
    ),
    "003": (
        "1 入口",
        "2 存在形式",
        "3 消费组的创建",
        "4 消费组的删除",
        "4.1 删除动作",
        "4.2 触发删除的动作",
        "5 总结",
    ),
    "004": (
        "问题现象",
        "问题复现方法",
        "源码分析",
        "创建topic时生成topicId",
        "扩容topic分区时zk上的topicId被置空",
        "controller切换下发topicId到partition.metadata文件",
        "controller切换",
        "LeaderAndIsr请求处理",
        "TopicId进行更新",
        "broker重启的影响",
        "分区topicId不一致检测工具",
        "分区topicId不一致修复方案",
        "注意事项",
    ),
}
"""The titles of the documents' sections, in their order."""


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("document", SECTIONS)
def test_the_map_has_every_section_of_a_document_in_its_order(document):
    titles = SECTIONS[document]
    assert len(ROWS[document]) == len(titles)
    assert [row[0] for row, title in zip(ROWS[document], titles, strict=True) if not row[0].startswith(title)] == []


def test_a_section_is_in_the_model_or_the_map_says_why_it_is_not():
    for section, model, scenarios, properties, page, _ in ALL:
        if model.startswith(NO_MODEL):
            assert not (scenarios or properties or page), section
        else:
            assert "](" in model and names(scenarios) and names(properties) and "](" in page, section


def test_a_section_names_scenarios_that_exist_and_properties_that_they_have():
    for _, _, scenarios, properties, _, experiments in ALL:
        assert set(names(scenarios)) <= SCENARIO.keys()
        assert set(names(properties)) <= {prop for name in names(scenarios) for prop in SCENARIO[name]}
        assert set(names(experiments)) <= EXPERIMENTS.keys()


def test_a_page_of_its_row_names_each_scenario_and_each_experiment():
    for section, _, scenarios, _, page, experiments in ALL:
        pages = [PAGE.parent / target for target in re.findall(r"\]\(([^)#]+)", page)]
        text = "".join(path.read_text(encoding="utf-8") for path in pages)
        known = set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", text))
        assert {*names(scenarios), *names(experiments)} <= known, section


def test_every_capture_and_every_test_that_the_map_names_is_there():
    text = SECTIONS_PAGE
    captures = {path.stem for path in (ROOT / "tests" / "captures").glob("*.json")}
    named = re.findall(r"`(scenario-\d\d-[\w-]+)`", text)
    assert named
    assert [name for name in named if name not in captures] == []
    shortened = re.findall(r"`…(-[\w-]+)`", text)
    assert [end for end in shortened if not any(name.endswith(end) for name in captures)] == []
    assert [test for test in re.findall(r"`(test_\w+\.py)`", text) if not [*(ROOT / "tests").rglob(test)]] == []


def test_every_file_that_the_map_names_is_there():
    targets = re.findall(r"\]\(([^)#]+)", PAGE.read_text(encoding="utf-8") + SECTIONS_PAGE)
    targets = [target for target in targets if target not in PAGES]
    assert [target for target in targets if not (PAGE.parent / target).is_file()] == []
