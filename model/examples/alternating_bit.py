"""The alternating bit protocol: every value arrives once and in order, although both channels lose what they like.

Words: a *packet* carries one bit and a datum; an *acknowledgement* is one bit. The sender may send the next value when
its bit has been acknowledged; a receiver that gets a packet with the bit it has already seen has a *duplicate*.

Source: L. Lamport, "Specifying Systems" (2002), section 14.4; tlaplus/Examples,
specifications/SpecifyingSystems/TLC/AlternatingBit.tla. Counts: 240 distinct states, 1,392 generated, TLC depth 10 for
two data and both channels cut at two (MCAlternatingBit.cfg in manifest.json). TLC generates the states beyond the cut,
and drops them; here such a step is a bound hit, so that 1,392 is our generated states and bound hits together.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from kwalk.model.language import (
    Abort,
    Actor,
    Bound,
    Domain,
    Fifo,
    Scenario,
    action,
    always,
    fifo,
    flag,
    member,
    nested,
    reachable,
    require,
    state,
    step,
    value,
)

DATA = Domain("data", "values that can be sent")
SLOTS = Domain("slots", "places in a channel")
CAPACITY = Bound("slots")

Element = TypeVar("Element")
Datum = Annotated[int, DATA]
Slot = Annotated[int, SLOTS]

SENDER = Actor("sender")
RECEIVER = Actor("receiver")
NETWORK = Actor("network", system=False)


class Duplicate(Abort):
    """A packet has come before."""


@value
class Packet:
    """What travels to the receiver."""

    bit: bool = flag()
    datum: int = member(DATA)


@state
class Sender:
    """The value under way, its bit, and the bit that was last acknowledged."""

    bit: bool = flag()
    acknowledged: bool = flag()
    datum: int = member(DATA)


@state
class Receiver:
    """The value that last arrived, and its bit."""

    bit: bool = flag()
    datum: int = member(DATA)

    def accept(self, packet: Packet) -> None:
        """Take a new value; Duplicate leaves everything as it is."""
        if packet.bit == self.bit:
            raise Duplicate
        self.bit = packet.bit
        self.datum = packet.datum


@state
class Line:
    """Both ends and the two channels between them."""

    sender: Sender = nested(Sender)
    receiver: Receiver = nested(Receiver)
    packets: Fifo[Packet] = fifo(Packet, CAPACITY)
    acks: Fifo[bool] = fifo(flag(), CAPACITY)


def agreed(line: Line, bit: bool, sent: Datum, received: Datum) -> None:
    """Both ends agree on a bit; what they hold is arbitrary."""
    line.sender.bit = line.sender.acknowledged = line.receiver.bit = bit
    line.sender.datum = sent
    line.receiver.datum = received


def lose(channel: Fifo[Element], lost: int) -> None:
    """Drop one element: every other one goes round once."""
    length = len(channel)
    for slot in SLOTS:
        if slot < length:
            element = channel.pop()
            if slot != lost:
                channel.push(element)


@action(by=SENDER, description="sends the new value {datum}")
def send_new(line: Line, datum: Datum) -> None:
    """The last value was acknowledged, so the bit alternates."""
    require(line.sender.acknowledged == line.sender.bit)
    line.sender.datum = datum
    line.sender.bit = not line.sender.bit
    line.packets.push(Packet(bit=line.sender.bit, datum=datum))


@action(by=SENDER, description="sends again")
def send_again(line: Line) -> None:
    """Until it is acknowledged."""
    require(line.sender.acknowledged != line.sender.bit)
    line.packets.push(Packet(bit=line.sender.bit, datum=line.sender.datum))


@action(by=RECEIVER, description="receives a packet")
def receive_packet(line: Line) -> None:
    """A new value is kept, a duplicate ignored."""
    require(not line.packets.is_empty)
    packet = line.packets.pop()
    try:
        line.receiver.accept(packet)
    except Duplicate:
        pass


@action(by=RECEIVER, description="acknowledges")
def send_ack(line: Line) -> None:
    """The receiver sends the bit that it has, any number of times."""
    line.acks.push(line.receiver.bit)


@action(by=SENDER, description="receives an acknowledgement")
def receive_ack(line: Line) -> None:
    """The sender learns which bit the receiver has."""
    require(not line.acks.is_empty)
    line.sender.acknowledged = line.acks.pop()


@action(by=NETWORK, description="loses packet {slot}")
def lose_packet(line: Line, slot: Slot) -> None:
    """Any packet can be lost."""
    require(slot < len(line.packets))
    lose(line.packets, slot)


@action(by=NETWORK, description="loses acknowledgement {slot}")
def lose_ack(line: Line, slot: Slot) -> None:
    """Any acknowledgement can be lost."""
    require(slot < len(line.acks))
    lose(line.acks, slot)


@always(symptom="the receiver has a value that was never sent")
def acknowledged_value_arrived(line: Line) -> bool:
    """While the receiver has the sender's bit and not everything is acknowledged, it has the sender's value."""
    under_way = line.sender.acknowledged != line.sender.bit
    return not under_way or line.receiver.bit != line.sender.bit or line.receiver.datum == line.sender.datum


@always()
def old_packets_are_duplicates(line: Line) -> bool:
    """A packet with the receiver's bit carries the receiver's value, so to ignore it loses nothing."""
    return all(packet.datum == line.receiver.datum for packet in line.packets if packet.bit == line.receiver.bit)


@step(symptom="the receiver skips a value")
def arrivals_alternate(before: Line, after: Line) -> bool:
    """The receiver's value never changes without its bit."""
    return before.receiver.datum == after.receiver.datum or before.receiver.bit != after.receiver.bit


@reachable()
def channels_fill(line: Line) -> bool:
    """Both channels can be full at once."""
    return len(line.packets) == CAPACITY and len(line.acks) == CAPACITY


ALTERNATING_BIT = Scenario(
    name="alternating-bit",
    story="A sender repeats, a network loses, a receiver recognizes by one bit what is new.",
    state=Line,
    initial=agreed,
    actions=(send_new, send_again, receive_packet, send_ack, receive_ack, lose_packet, lose_ack),
    properties=(acknowledged_value_arrived, old_packets_are_duplicates, arrivals_alternate, channels_fill),
    bounds={"data": 2, "slots": 2},
    source="tlaplus/Examples specifications/SpecifyingSystems/TLC/AlternatingBit.tla",
)
