package io.carillon.it.race;

import static io.carillon.it.race.RaceFixture.OWNER;
import static io.carillon.it.race.RaceFixture.PROJECT;
import static io.carillon.it.race.RaceSetup.*;

import io.carillon.event.EventId;
import io.carillon.event.Subscribe;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.RelayStore;
import io.carillon.internal.store.event.SourceStore;
import io.carillon.it.race.RaceCase.Skip;
import io.carillon.spi.EventSource;
import java.time.Duration;
import java.util.List;

/** How each writing statement about relays and sources is sent in a race; see {@link RaceCases}. */
final class RaceRelayCases extends RaceCaseList {
    private static final RelayStore.Name RELAY = new RelayStore.Name(PROJECT, "orders");
    private static final RelayStore.Lease LEASE = new RelayStore.Lease(RELAY, 1);
    private static final SourceStore.Partition PARTITION = new SourceStore.Partition(PROJECT, "payments", "payments-0");
    private static final EventPosition FIRST = new EventPosition(1, 7);
    private static final EventPosition SECOND = new EventPosition(1, 8);
    private static final EventPosition THIRD = new EventPosition(1, 9);
    private static final EventId EVENT = new EventId(RaceFixture.id(63));
    private static final RaceSetup[] RELAYS = {RELAY_LEASED, RELAY_LEASE_ENDED};

    RaceRelayCases() {
        add(
                "RelayRepository.CREATE",
                (fixture, through, sender) -> done(() -> through.relays().declare(declaration("kafka:a"))),
                EMPTY);
        add(
                "RelayRepository.CHANGE",
                (fixture, through, sender) ->
                        done(() -> through.relays().declare(declaration(sender.first() ? "kafka:a" : "kafka:b"))),
                RELAYS);
        skipping(
                Skip.ANY,
                "RelayRepository.LEASE",
                (fixture, through, sender) -> texts(
                        through.relays().lease(RaceFixture.claimer(sender), List.of(RELAY), Duration.ofSeconds(5))),
                RELAYS);
        add(
                "RelayRepository.RELEASE",
                (fixture, through, sender) -> done(() -> through.relays().release(OWNER, List.of(RELAY))),
                RELAYS);
        add(
                "RelayRepository.ADVANCE",
                (fixture, through, sender) -> through.relays()
                        .advance(
                                LEASE,
                                new RelayStore.Advance(
                                        SECOND,
                                        sender.first() ? THIRD : EventPosition.endOf(1),
                                        1,
                                        List.of(new RelayStore.HeldEvent(
                                                THIRD,
                                                new EventId(RaceFixture.newRunId(sender, 0)
                                                        .value()),
                                                "k",
                                                true,
                                                null)))),
                RELAYS);
        add(
                "RelayRepository.REPORT",
                (fixture, through, sender) ->
                        done(() -> through.relays().report(LEASE, sender.first() ? "away" : "far away")),
                RELAYS);
        add(
                "RelayRepository.REMOVE",
                (fixture, through, sender) -> through.relays().remove(RELAY),
                RELAY_LEASED,
                RELAY_LEASE_ENDED,
                EMPTY);
        heldEvents();
        sources();
    }

    private void heldEvents() {
        add(
                "HeldEvents.DECIDE",
                (fixture, through, sender) -> through.relays().decide(RELAY, EVENT, sender.first()),
                RELAYS);
        add(
                "HeldEvents.REMOVE",
                (fixture, through, sender) -> done(() -> through.relays().removeHeld(LEASE, List.of(FIRST), SECOND, 1)),
                RELAYS);
        add(
                "HeldEvents.REJECT_AGAIN",
                (fixture, through, sender) ->
                        done(() -> through.relays().rejectAgain(LEASE, FIRST, sender.first() ? "still" : "again")),
                RELAYS);
    }

    private void sources() {
        add(
                "SourceRepository.ADD",
                (fixture, through, sender) -> done(() -> through.sources().add(PARTITION, sender.first() ? 1 : 2)),
                EMPTY);
        add(
                "SourceRepository.MOVE",
                (fixture, through, sender) -> through.sources().store(moving(6, sender.first() ? 8 : 9)),
                SOURCE_BLOCKED);
        add(
                "SourceRepository.BLOCK",
                (fixture, through, sender) ->
                        done(() -> through.sources().block(PARTITION, 6, sender.first() ? "bad" : "worse")),
                SOURCE_BLOCKED);
        add(
                "SourceRepository.SKIP",
                (fixture, through, sender) -> through.sources().skip(PARTITION, 6),
                SOURCE_BLOCKED);
        add(
                "SourceRepository.REMOVE_UNPUBLISHED",
                (fixture, through, sender) -> through.sources().removeUnpublished(PARTITION, 5),
                SOURCE_BLOCKED);
        for (String statement : List.of("SourceRepository.REMOVE", "SourceRepository.REMOVE_ALL_UNPUBLISHED"))
            add(
                    statement,
                    (fixture, through, sender) -> through.sources().remove(PROJECT, "payments"),
                    SOURCE_BLOCKED,
                    EMPTY);
    }

    private static RelayStore.Declaration declaration(String destination) {
        return new RelayStore.Declaration(RELAY, "orders", destination, new Subscribe.Start.Beginning());
    }

    private static SourceStore.Batch moving(long from, long to) {
        return new SourceStore.Batch(
                PARTITION,
                from,
                to,
                List.of(),
                List.of(new EventSource.UnpublishedRecord(from, null, null, "unreadable")));
    }

    /** Creates a relay whose first event an operator has decided to send, and whose second one waits behind it. */
    static void leased(RaceFixture fixture) {
        fixture.nodes();
        RelayStore relays = fixture.storage().relays();
        relays.declare(declaration("kafka:z"));
        relays.lease(OWNER, List.of(RELAY), Duration.ofSeconds(5));
        relays.advance(
                LEASE,
                new RelayStore.Advance(
                        EventPosition.endOf(0),
                        SECOND,
                        0,
                        List.of(
                                new RelayStore.HeldEvent(FIRST, EVENT, "k", true, "too large"),
                                new RelayStore.HeldEvent(SECOND, new EventId(RaceFixture.id(64)), "k", true, null))));
        relays.decide(RELAY, EVENT, true);
    }

    /** Creates a partition that is blocked behind an unpublished record. */
    static void blocked(Storage storage) {
        storage.sources().add(PARTITION, 5);
        storage.sources().store(moving(5, 6));
        storage.sources().block(PARTITION, 6, "unreadable");
    }
}
