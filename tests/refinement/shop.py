"""A shop that refines a ledger: a detailed scenario with a queue, and an abstract one without; and mistakes in both."""

from __future__ import annotations

from typing import Annotated

from kwalk import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Flag,
    Scenario,
    action,
    array,
    choice,
    fifo,
    flag,
    member,
    number,
    refines,
    require,
    state,
    value,
)
from kwalk.model.examples.transaction_commit import RmState
from kwalk.model.language import Property

GOODS = Domain("goods", "kinds of goods")
STOCK = Bound("stock", "pieces of each kind")
QUEUE = Bound("queue", "orders that wait")
PATIENT = Flag("patient", "whether a clerk refuses orders while the till is open")
Good = Annotated[int, GOODS]
CLERK, CUSTOMER = Actor("clerk"), Actor("customer", system=False)


@state
class Ledger:
    """How many pieces of each kind are left, and whether the day is over."""

    left: Array[int] = array(GOODS, number(0, STOCK, default=STOCK))
    last: int = member(GOODS)
    mood: RmState = choice(RmState)
    over: bool = flag()


@action(by=CUSTOMER)
def buy(ledger: Ledger, good: Good) -> None:
    """One piece fewer."""
    require(not ledger.over and ledger.left[good] > 0)
    ledger.left[good] -= 1
    ledger.last = good


@action(by=CLERK)
def close(ledger: Ledger) -> None:
    """The day ends."""
    require(not ledger.over)
    ledger.over = True
    ledger.mood = RmState.COMMITTED


@action(by=CLERK)
def restock(ledger: Ledger, good: Good) -> None:
    """Overfills: more than there can be is a bound hit."""
    require(not ledger.over and ledger.left[good] == STOCK)
    ledger.left[good] += 1


LEDGER = Scenario(
    name="ledger",
    story="Goods are bought until the day ends.",
    state=Ledger,
    actions=(buy, close, restock),
    bounds={"goods": 2, "stock": 2},
)


@value
class Order:
    """One piece of a kind."""

    good: int = member(GOODS)


@state
class Shop:
    """Orders wait; goods leave when their order is served."""

    sold: Array[int] = array(GOODS, number(0, STOCK))
    orders: Fifo[Order] = fifo(Order, QUEUE)
    last: int = member(GOODS)
    shut: bool = flag()
    lamp: bool = flag()


@action(by=CUSTOMER)
def order(shop: Shop, good: Good) -> None:
    """An order joins the queue."""
    require(not shop.shut and not (PATIENT and shop.lamp))
    shop.orders.push(Order(good=good))


@action(by=CLERK)
def serve(shop: Shop) -> None:
    """The oldest order is served, or dropped if nothing is left."""
    require(not shop.shut and not shop.orders.is_empty)
    good = shop.orders.pop().good
    if shop.sold[good] < STOCK:
        shop.sold[good] += 1
        shop.last = good


@action(by=CLERK)
def switch(shop: Shop) -> None:
    """The lamp means nothing to the ledger."""
    shop.lamp = not shop.lamp


@action(by=CLERK)
def shut(shop: Shop) -> None:
    """The shop closes; orders that wait are forgotten."""
    require(not shop.shut)
    shop.shut = True
    shop.orders.clear()


@action(by=CLERK)
def sell_when_shut(shop: Shop, good: Good) -> None:
    """A mistake: goods leave the closed shop."""
    require(shop.shut and shop.sold[good] < STOCK)
    shop.sold[good] += 1


@action(by=CLERK)
def sell_two(shop: Shop) -> None:
    """A mistake: two kinds leave in one step."""
    require(not shop.shut and shop.sold[0] < STOCK and shop.sold[1] < STOCK)
    shop.sold[0] += 1
    shop.sold[1] += 1


def ledger_of(shop: Shop, ledger: Ledger) -> None:
    """What is left is what was not sold."""
    for good in GOODS:
        ledger.left[good] = STOCK - shop.sold[good]
    ledger.last = shop.last
    if shop.shut:
        ledger.over, ledger.mood = True, RmState.COMMITTED


def ledger_of_orders(shop: Shop, ledger: Ledger) -> None:
    """A mistake in the mapping: orders count as sold, so that a dropped one comes back."""
    ledger_of(shop, ledger)
    waiting = sum(one.good == 0 for one in shop.orders)
    ledger.left[0] = max(0, STOCK - shop.sold[0] - waiting)


def ledger_without_mood(shop: Shop, ledger: Ledger) -> None:
    """A mistake in the mapping: one field is left out."""
    ledger_of(shop, ledger)
    ledger.mood = RmState.WORKING


def ledger_of_the_lamp(shop: Shop, ledger: Ledger) -> None:
    """A mistake in the mapping: it depends on what is none of the ledger's business."""
    ledger_of(shop, ledger)
    ledger.over = ledger.over or shop.lamp


def ledger_that_overflows(shop: Shop, ledger: Ledger) -> None:
    """A mistake in the mapping: with the lamp on, it writes more than the bound of the ledger."""
    ledger_of(shop, ledger)
    if shop.lamp:
        ledger.left[0] = STOCK + 1 - shop.sold[0]


def ledger_begun_late(shop: Shop, ledger: Ledger) -> None:
    """A mistake in the mapping: the first state has one piece fewer."""
    ledger_of(shop, ledger)
    ledger.left[0] = max(0, STOCK - shop.sold[0] - 1)


def shop_with(*refined: Property, more: tuple[object, ...] = (), **changes: object) -> Scenario:
    """Return the shop with some properties and more actions."""
    return Scenario(
        name="shop",
        story="A clerk serves orders.",
        state=Shop,
        actions=(order, serve, switch, shut, *more),  # type: ignore[arg-type]
        properties=refined,
        bounds={"goods": 2, "stock": 2, "queue": 2},
        flags={"patient": False},
        **changes,  # type: ignore[arg-type]
    )


SHOP = shop_with(refines(LEDGER, ledger_of))
MISTAKES = {
    "sells when shut": shop_with(refines(LEDGER, ledger_of), more=(sell_when_shut,)),
    "sells two": shop_with(refines(LEDGER, ledger_of), more=(sell_two,)),
    "counts orders": shop_with(refines(LEDGER, ledger_of_orders)),
    "leaves a field out": shop_with(refines(LEDGER, ledger_without_mood)),
    "depends on the lamp": shop_with(refines(LEDGER, ledger_of_the_lamp)),
    "begins late": shop_with(refines(LEDGER, ledger_begun_late)),
}
OVERFLOWS = shop_with(refines(LEDGER, ledger_that_overflows))
