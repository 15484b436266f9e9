package io.carillon.it.lostanswer;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.PublishResult;
import io.carillon.event.Subscribe;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.EventStore;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.internal.value.Uuid7;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** For each writing statement about events: a call that sends it, and a check that it took effect once. */
final class LostEventCases extends LostCases {
    private static final String NAME = "notes";

    LostEventCases(PostgresStoreFixture fixture, Storage through) {
        super(fixture, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.ofEntries(
                entry("EventRepository.PUBLISH", () -> publishing(false)),
                entry("EventCopy.COPY", this::copy),
                entry("EventRepository.ADVANCE_VERSION", () -> publishing(true)),
                entry("EventRepository.BEGIN_EPOCH", this::beginEpoch),
                entry("EventDispatchRepository.STORE_SNAPSHOT", this::storeSnapshot),
                entry("EventDispatchRepository.DELIVER", this::deliver),
                entry("EventDispatchRepository.DISPATCH", this::dispatch),
                entry("EventDispatchRepository.JOIN", this::join),
                entry("EventRepository.TAKE_PUBLISH_IDS", this::publishWithId),
                entry("AttemptEndings.PUBLISH", this::tick),
                entry("EventDispatchRepository.END_REPLAY", this::endReplay),
                entry("MaintenanceRepository.PURGE_SNAPSHOTS", this::purgeSnapshots),
                entry("MaintenanceRepository.PURGE_CURSORS", this::purgeCursors),
                entry("SubscriptionRepository.CREATE", this::create),
                entry("SubscriptionRepository.CHANGE", this::change),
                entry("SubscriptionRepository.PAUSE", this::pause),
                entry("SubscriptionRepository.RESUME", this::resume),
                entry("SubscriptionRepository.REPLAY", this::replay),
                entry("SubscriptionRepository.SKIP", this::skip),
                entry("SubscriptionRepository.REMOVE", this::remove));
    }

    private static EventToStore event(boolean versioned) {
        return new EventToStore(
                PROJECT,
                new EventId(Uuid7.at(StoreFixture.NOON)),
                "orders",
                "order.noted",
                "k",
                versioned,
                versioned ? 0L : null,
                new Payload("1".getBytes(StandardCharsets.UTF_8), "json"));
    }

    private LostAnswer copy() {
        List<EventToStore> events =
                Stream.generate(() -> event(false)).limit(1_200).toList();
        return LostAnswer.of(() -> faultyStorage.events().publish(events, true), answer -> {
            assertThat(answer)
                    .isEqualTo(events.stream()
                            .map(event -> new PublishResult.Published(event.id(), 0))
                            .toList());
            assertThat(count("event_store")).isEqualTo(1_200);
        });
    }

    private static EventStore.Declaration declaration(String type) {
        return new EventStore.Declaration(
                PROJECT,
                SubscriptionDefinition.of(
                        NAME,
                        EventPattern.of("orders", type),
                        new SubscriptionTarget.Handler(NAME),
                        Subscribe.inOrder().fromBeginning()),
                Subscription.Owner.CODE);
    }

    private long count(String table) {
        return fixture.query("SELECT count(*) FROM carillon." + table).number();
    }

    private LostAnswer publishing(boolean versioned) {
        EventToStore event = event(versioned);
        return LostAnswer.of(() -> faultyStorage.events().publish(List.of(event), false), answer -> {
            assertThat(answer).isEqualTo(List.of(new PublishResult.Published(event.id(), versioned ? 1 : 0)));
            assertThat(count("event_store")).isEqualTo(1);
        });
    }

    /** A snapshot of another server contains all transactions of this one. */
    private LostAnswer beginEpoch() {
        fixture.database()
                .execute("INSERT INTO carillon.event_snapshot (snapshot, transactions)"
                        + " VALUES (1, '900000000:900000000:')");
        EventToStore event = event(false);
        return LostAnswer.of(() -> faultyStorage.events().publish(List.of(event), false), answer -> {
            assertThat(answer).isEqualTo(List.of(new PublishResult.Published(event.id(), 0)));
            assertThat(count("event_epoch")).isEqualTo(1);
            assertThat(storage().eventDispatch().storeSnapshot()).isEqualTo(2);
            assertThat(read(1, 2)).containsExactly(event.id());
        });
    }

    private List<EventId> read(long base, long last) {
        return storage()
                .eventDispatch()
                .read(new EventDispatchStore.Window(EventPosition.endOf(base), last, null), 10)
                .stream()
                .map(EventDispatchStore.Head::id)
                .toList();
    }

    private LostAnswer storeSnapshot() {
        storage().events().publish(List.of(event(false)), false);
        return LostAnswer.of(() -> faultyStorage.eventDispatch().storeSnapshot(), answer -> {
            assertThat(answer).isEqualTo(1L);
            assertThat(count("event_snapshot")).isEqualTo(1);
        });
    }

    private EventId subscribed() {
        EventToStore event = event(false);
        storage().events().declare(declaration("order.*"));
        storage().events().publish(List.of(event), false);
        storage().eventDispatch().storeSnapshot();
        return event.id();
    }

    private LostAnswer deliver() {
        EventId event = subscribed();
        EventDispatchStore.Cursor from = storage().eventDispatch().behind(10).get(0);
        EventDispatchStore.Delivery delivery = new EventDispatchStore.Delivery(from, List.of(event));
        return LostAnswer.of(
                () -> faultyStorage
                        .eventDispatch()
                        .deliver(List.of(delivery), EventPosition.endOf(1), RunId.generate()),
                answer -> {
                    assertThat(answer).isEqualTo(new EventDispatchStore.Delivered(Set.of(), List.of()));
                    assertThat(count("run")).isEqualTo(1);
                    assertThat(storage().eventDispatch().behind(10).get(0).cursor())
                            .isEqualTo(EventPosition.endOf(1));
                });
    }

    /** Removes the cursor of a subscription, so that its events are behind the place of all. */
    private EventDispatchStore.Place joined() {
        subscribed();
        EventDispatchStore dispatch = storage().eventDispatch();
        assertThat(dispatch.join(
                        dispatch.place(), List.of(dispatch.behind(10).get(0).name())))
                .isEqualTo(1);
        return dispatch.place();
    }

    private LostAnswer dispatch() {
        EventDispatchStore.Place place = joined();
        List<EventDispatchStore.Head> heads =
                storage().eventDispatch().read(new EventDispatchStore.Window(EventPosition.endOf(0), 1, null), 10);
        return LostAnswer.of(
                () -> faultyStorage.eventDispatch().dispatch(place, heads, EventPosition.endOf(1), RunId.generate()),
                answer -> {
                    assertThat(answer).isEqualTo(Optional.empty());
                    assertThat(count("run")).isEqualTo(1);
                    assertThat(storage().eventDispatch().place().position()).isEqualTo(EventPosition.endOf(1));
                });
    }

    private LostAnswer join() {
        subscribed();
        EventDispatchStore dispatch = storage().eventDispatch();
        EventDispatchStore.Place place = dispatch.place();
        EventDispatchStore.Name name = dispatch.behind(10).get(0).name();
        return LostAnswer.of(() -> faultyStorage.eventDispatch().join(place, List.of(name)), answer -> {
            assertThat(answer).isEqualTo(0);
            assertThat(count("event_cursor")).isZero();
        });
    }

    private LostAnswer publishWithId() {
        EventToStore event = event(false).publishId("p-1");
        return LostAnswer.of(() -> faultyStorage.events().publish(List.of(event), false), answer -> {
            assertThat(answer).isEqualTo(List.of(new PublishResult.Published(event.id(), 0)));
            assertThat(count("event_store")).isEqualTo(1);
            assertThat(count("event_publish_id")).isEqualTo(2);
        });
    }

    private LostAnswer tick() {
        enqueue(RunSpec.mail().withHandler("carillon.publish"));
        fixture.database()
                .execute("UPDATE carillon.run SET payload = convert_to('{\"schedule\":\"s\",\"topic\":\"orders\","
                        + "\"type\":\"order.noted\",\"codec\":\"json\",\"data\":\"MQ==\"}', 'UTF8')");
        UUID node = node("carillon.publish");
        Attempt attempt = claimOne(node);
        return LostAnswer.of(
                () -> faultyStorage.runs().apply(node, List.of(ended(attempt, new Transition.Complete(null)))),
                answer -> {
                    assertThat(answer).isEqualTo(List.of(WriteResult.ACCEPTED));
                    assertOnce(attempt.run(), RunState.SUCCEEDED);
                    assertThat(fixture.query("SELECT topic || '/' || type || ' ' || convert_from(data, 'UTF8') || ' '"
                                            + " || schedule FROM carillon.event_store")
                                    .texts())
                            .containsExactly("orders/order.noted 1 s");
                });
    }

    private LostAnswer endReplay() {
        subscribed();
        storage().events().replay(new EventStore.Replay(PROJECT, NAME, 7, StoreFixture.NOON, StoreFixture.NOON));
        fixture.database()
                .execute("UPDATE carillon.event_cursor SET snapshot = 1, ends_at_snapshot = 1 WHERE replay = 7");
        EventDispatchStore.Name replay = new EventDispatchStore.Name(PROJECT, NAME, 7);
        return LostAnswer.of(
                call(() -> faultyStorage.eventDispatch().endReplay(replay)),
                answer -> assertThat(count("event_cursor")).isEqualTo(1));
    }

    private LostAnswer purgeSnapshots() {
        fixture.database()
                .execute(
                        "INSERT INTO carillon.event_snapshot (snapshot, transactions) VALUES (1, '3:3:'), (2, '3:3:')");
        advance(Duration.ofDays(10));
        return LostAnswer.of(
                call(() -> faultyStorage.maintenance().dropEvents(Duration.ofDays(1))),
                answer -> assertThat(fixture.query("SELECT snapshot FROM carillon.event_snapshot")
                                .number())
                        .isEqualTo(2));
    }

    private LostAnswer purgeCursors() {
        subscribed();
        fixture.database().execute("""
                INSERT INTO carillon.event_cursor (project, name, replay, snapshot, seq)
                SELECT project, name, cursor_number - 1, 0, 1 FROM carillon.event_subscription
                """);
        return LostAnswer.of(
                call(() -> faultyStorage.maintenance().dropEvents(Duration.ofDays(1))),
                answer -> assertThat(count("event_cursor")).isEqualTo(1));
    }

    private LostAnswer create() {
        return LostAnswer.of(
                call(() -> faultyStorage.events().declare(declaration("order.*"))), answer -> assertVersion(1));
    }

    private void assertVersion(long version) {
        assertThat(fixture.query("SELECT version FROM carillon.event_subscription")
                        .number())
                .isEqualTo(version);
    }

    private LostAnswer change() {
        subscribed();
        return LostAnswer.of(call(() -> faultyStorage.events().declare(declaration("*"))), answer -> assertVersion(2));
    }

    private LostAnswer changed(Callable<?> call, long version) {
        return LostAnswer.of(call, answer -> {
            assertThat(answer).isEqualTo(false);
            assertVersion(version);
        });
    }

    private LostAnswer pause() {
        subscribed();
        return changed(() -> faultyStorage.events().pause(PROJECT, NAME, "audit"), 2);
    }

    private LostAnswer resume() {
        subscribed();
        storage().events().pause(PROJECT, NAME, "audit");
        return changed(() -> faultyStorage.events().resume(PROJECT, NAME), 3);
    }

    private LostAnswer skip() {
        EventId event = subscribed();
        return changed(() -> faultyStorage.events().skip(PROJECT, NAME, event), 2);
    }

    private LostAnswer replay() {
        subscribed();
        EventStore.Replay replay = new EventStore.Replay(
                PROJECT, NAME, 7, StoreFixture.NOON.minusSeconds(60), StoreFixture.NOON.plusSeconds(60));
        return LostAnswer.of(
                call(() -> faultyStorage.events().replay(replay)),
                answer -> assertThat(count("event_cursor")).isEqualTo(2));
    }

    private LostAnswer remove() {
        subscribed();
        return LostAnswer.of(() -> faultyStorage.events().remove(PROJECT, NAME), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(count("event_subscription")).isZero();
            assertThat(count("event_cursor")).isZero();
        });
    }
}
