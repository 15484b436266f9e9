package io.carillon.it.lostanswer;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.event.EventId;
import io.carillon.event.SourcePartition;
import io.carillon.event.Subscribe;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.store.event.RelayStore;
import io.carillon.internal.store.event.SourceStore;
import io.carillon.internal.value.Uuid7;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Payload;
import io.carillon.spi.EventSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

/** For each writing statement about relays and sources: a call that sends it, and a check that it took effect once. */
final class LostRelayCases extends LostCases {
    private static final RelayStore.Name RELAY = new RelayStore.Name(PROJECT, "orders");
    private static final SourceStore.Partition PARTITION = new SourceStore.Partition(PROJECT, "payments", "payments-0");
    private static final UUID NODE = new UUID(0x7000, 1L << 63);
    private static final EventId EVENT = new EventId(Uuid7.at(StoreFixture.NOON));
    private static final EventPosition START = EventPosition.endOf(0);
    private static final EventPosition FIRST = new EventPosition(1, 7);
    private static final EventPosition SECOND = new EventPosition(1, 8);

    LostRelayCases(PostgresStoreFixture fixture, Storage through) {
        super(fixture, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.ofEntries(
                entry("RelayRepository.CREATE", this::create),
                entry("RelayRepository.CHANGE", this::change),
                entry("RelayRepository.LEASE", this::lease),
                entry("RelayRepository.RELEASE", this::release),
                entry("RelayRepository.ADVANCE", this::advance),
                entry("RelayRepository.REPORT", this::report),
                entry("RelayRepository.REMOVE", this::remove),
                entry("HeldEvents.DECIDE", this::decide),
                entry("HeldEvents.REMOVE", this::removeHeld),
                entry("HeldEvents.REJECT_AGAIN", this::rejectAgain),
                entry("SourceRepository.ADD", this::add),
                entry("SourceRepository.MOVE", this::move),
                entry("SourceRepository.BLOCK", this::block),
                entry("SourceRepository.SKIP", this::skip),
                entry("SourceRepository.REMOVE_UNPUBLISHED", this::removeUnpublished),
                entry("SourceRepository.REMOVE", this::removeSource),
                entry("SourceRepository.REMOVE_ALL_UNPUBLISHED", this::removeSource));
    }

    private long number(String sql) {
        return fixture.query(sql).number();
    }

    private RelayStore through() {
        return faultyStorage.relays();
    }

    private static RelayStore.Declaration declaration(String destination) {
        return new RelayStore.Declaration(RELAY, "orders", destination, new Subscribe.Start.Beginning());
    }

    private RelayStore.Lease leased() {
        storage().relays().declare(declaration("kafka:a"));
        return storage()
                .relays()
                .lease(NODE, List.of(RELAY), Duration.ofSeconds(5))
                .get(0);
    }

    /** A relay whose first event was rejected and whose second one waits behind it. */
    private RelayStore.Lease held() {
        RelayStore.Lease lease = leased();
        storage().relays().advance(lease, passing());
        return lease;
    }

    private static RelayStore.Advance passing() {
        return new RelayStore.Advance(
                START,
                SECOND,
                5,
                List.of(
                        new RelayStore.HeldEvent(FIRST, EVENT, "k", true, "too large"),
                        new RelayStore.HeldEvent(SECOND, new EventId(Uuid7.at(StoreFixture.NOON)), "k", true, null)));
    }

    private LostAnswer create() {
        return LostAnswer.of(
                call(() -> through().declare(declaration("kafka:a"))),
                answer -> assertThat(storage().relays().list(PROJECT, "", 10)).hasSize(1));
    }

    private LostAnswer change() {
        leased();
        return LostAnswer.of(
                call(() -> through().declare(declaration("kafka:b"))),
                answer -> assertThat(
                                storage().relays().list(PROJECT, "", 10).get(0).destination())
                        .isEqualTo("kafka:b"));
    }

    private LostAnswer lease() {
        storage().relays().declare(declaration("kafka:a"));
        return LostAnswer.of(
                () -> through().lease(NODE, List.of(RELAY), Duration.ofSeconds(5)),
                answer -> assertThat(answer).isEqualTo(List.of(new RelayStore.Lease(RELAY, 1))));
    }

    private LostAnswer release() {
        leased();
        return LostAnswer.of(
                call(() -> through().release(NODE, List.of(RELAY))),
                answer -> assertThat(number("SELECT count(*) FROM carillon.event_relay WHERE owner IS NULL"))
                        .isEqualTo(1));
    }

    private LostAnswer advance() {
        RelayStore.Lease lease = leased();
        return LostAnswer.of(() -> through().advance(lease, passing()), answer -> {
            assertThat(answer).isEqualTo(true);
            assertThat(storage().relays().state(lease).orElseThrow().cursor()).isEqualTo(SECOND);
            assertThat(storage().relays().list(PROJECT, "", 10).get(0).sent()).isEqualTo(5);
            assertThat(number("SELECT count(*) FROM carillon.event_relay_held")).isEqualTo(2);
        });
    }

    private LostAnswer report() {
        RelayStore.Lease lease = leased();
        return LostAnswer.of(
                call(() -> through().report(lease, "away")),
                answer -> assertThat(
                                storage().relays().list(PROJECT, "", 10).get(0).error())
                        .isEqualTo("away"));
    }

    private LostAnswer remove() {
        held();
        return LostAnswer.of(() -> through().remove(RELAY), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(number("SELECT count(*) FROM carillon.event_relay_held")).isZero();
        });
    }

    private LostAnswer decide() {
        held();
        return LostAnswer.of(() -> through().decide(RELAY, EVENT, true), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(number("SELECT count(*) FROM carillon.event_relay_held WHERE state = 'retry'"))
                    .isEqualTo(1);
        });
    }

    private LostAnswer removeHeld() {
        RelayStore.Lease lease = held();
        storage().relays().decide(RELAY, EVENT, true);
        return LostAnswer.of(call(() -> through().removeHeld(lease, List.of(FIRST), SECOND, 1)), answer -> {
            assertThat(storage().relays().list(PROJECT, "", 10).get(0).sent()).isEqualTo(6);
            assertThat(fixture.query("SELECT state FROM carillon.event_relay_held")
                            .text())
                    .isEqualTo("retry");
        });
    }

    private LostAnswer rejectAgain() {
        RelayStore.Lease lease = held();
        storage().relays().decide(RELAY, EVENT, true);
        return LostAnswer.of(
                call(() -> through().rejectAgain(lease, FIRST, "still")),
                answer -> assertThat(storage().relays().rejected(RELAY, 10))
                        .singleElement()
                        .satisfies(row -> assertThat(row.reason()).isEqualTo("still")));
    }

    private LostAnswer add() {
        return LostAnswer.of(
                call(() -> faultyStorage.sources().add(PARTITION, 5)),
                answer -> assertThat(storage().sources().next(PARTITION)).hasValue(5));
    }

    private static SourceStore.Batch batch() {
        EventToStore event = new EventToStore(
                PROJECT,
                EVENT,
                "payments",
                "paid",
                "k",
                false,
                null,
                new Payload("1".getBytes(StandardCharsets.UTF_8), "json"));
        return new SourceStore.Batch(
                PARTITION,
                5,
                7,
                List.of(event),
                List.of(new EventSource.UnpublishedRecord(6, null, new byte[0], "unreadable")));
    }

    private LostAnswer move() {
        storage().sources().add(PARTITION, 5);
        return LostAnswer.of(() -> faultyStorage.sources().store(batch()), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(storage().sources().next(PARTITION)).hasValue(7);
            assertThat(number("SELECT count(*) FROM carillon.event_store")).isEqualTo(1);
            assertThat(storage().sources().unpublished(PROJECT, "payments", 10)).hasSize(1);
        });
    }

    private LostAnswer block() {
        storage().sources().add(PARTITION, 5);
        return LostAnswer.of(
                call(() -> faultyStorage.sources().block(PARTITION, 5, "unreadable")),
                answer -> assertThat(storage().sources().blocked()).hasSize(1));
    }

    private LostAnswer skip() {
        storage().sources().add(PARTITION, 5);
        return LostAnswer.of(() -> faultyStorage.sources().skip(PARTITION, 5), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(storage().sources().list(PROJECT))
                    .extracting(SourcePartition::next)
                    .containsExactly(6L);
        });
    }

    private void unpublished() {
        storage().sources().add(PARTITION, 5);
        storage().sources().store(batch());
    }

    private LostAnswer removeUnpublished() {
        unpublished();
        return LostAnswer.of(() -> faultyStorage.sources().removeUnpublished(PARTITION, 6), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(storage().sources().unpublished(PROJECT, "payments", 10)).isEmpty();
        });
    }

    private LostAnswer removeSource() {
        unpublished();
        return LostAnswer.of(() -> faultyStorage.sources().remove(PROJECT, "payments"), answer -> {
            assertThat(storage().sources().list(PROJECT)).isEmpty();
            assertThat(storage().sources().unpublished(PROJECT, "payments", 10)).isEmpty();
        });
    }
}
