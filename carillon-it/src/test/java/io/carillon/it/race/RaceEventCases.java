package io.carillon.it.race;

import static io.carillon.it.race.RaceFixture.PROJECT;
import static io.carillon.it.race.RaceSetup.*;

import io.carillon.CarillonException;
import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.Subscribe;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.EventStore;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.it.race.RaceCase.Sender;
import io.carillon.it.race.RaceCase.Skip;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** How each writing statement about events and subscriptions is sent in a race; see {@link RaceCases}. */
final class RaceEventCases extends RaceCaseList {
    static final String NAME = "notes";
    static final EventId FIRST = new EventId(RaceFixture.id(61));
    /** The runs of a dispatch have the same ids, whichever node makes it. */
    private static final RunId FIRST_RUN = new RunId(RaceFixture.id(63));

    static final EventId SECOND_EVENT = new EventId(RaceFixture.id(62));
    private static final RaceSetup[] SUBSCRIPTIONS = {
        SUBSCRIBED, SUBSCRIPTION_PAUSED, REPLAY_ENDED, SUBSCRIBED_AT_PLACE, SUBSCRIPTION_CAUGHT_UP
    };

    RaceEventCases() {
        skipping(
                Skip.ANY,
                "EventDispatchRepository.DELIVER",
                RaceEventCases::deliver,
                SUBSCRIBED,
                SUBSCRIPTION_PAUSED,
                REPLAY_ENDED);
        // A subscription whose row is locked gets a cursor, from which the engine serves it later.
        skippingSilently(
                "EventDispatchRepository.DISPATCH",
                (fixture, through, sender) -> done(() -> dispatch(fixture, through, fixture.place())),
                RaceEventCases::catchUp,
                SUBSCRIBED_AT_PLACE);
        skippingSilently(
                "EventDispatchRepository.JOIN",
                (fixture, through, sender) -> done(() -> through.eventDispatch()
                        .join(fixture.place(), List.of(fixture.subscription().name()))),
                RaceEventCases::catchUp,
                SUBSCRIPTION_CAUGHT_UP,
                SUBSCRIBED_AT_PLACE);
        add(
                "EventRepository.TAKE_PUBLISH_IDS",
                (fixture, through, sender) -> through.events()
                        .publish(List.of(event(today(sender), false, null).publishId("p")), false)
                        .get(0)
                        .getClass()
                        .getSimpleName(),
                PARTITIONS);
        ticks();
        add(
                "EventDispatchRepository.STORE_SNAPSHOT",
                (fixture, through, sender) -> through.eventDispatch().storeSnapshot(),
                EVENT_PUBLISHED,
                OLD_SNAPSHOTS);
        add(
                "EventDispatchRepository.END_REPLAY",
                (fixture, through, sender) ->
                        done(() -> through.eventDispatch().endReplay(new EventDispatchStore.Name(PROJECT, NAME, 7))),
                REPLAY_ENDED);
        add(
                "EventRepository.ADVANCE_VERSION",
                (fixture, through, sender) -> through.events()
                        .publish(
                                List.of(event(
                                        new EventId(
                                                RaceFixture.newRunId(sender, 1).value()),
                                        true,
                                        null)),
                                false)
                        .get(0)
                        .getClass()
                        .getSimpleName(),
                EMPTY);
        subscriptions();
        add(
                "MaintenanceRepository.PURGE_SNAPSHOTS",
                (fixture, through, sender) -> done(() -> through.maintenance().dropEvents(Duration.ofDays(1))),
                OLD_SNAPSHOTS);
        add(
                "MaintenanceRepository.PURGE_CURSORS",
                (fixture, through, sender) -> done(() -> through.maintenance().dropEvents(Duration.ofDays(1))),
                SUBSCRIBED,
                SUBSCRIBED_AT_PLACE,
                REPLAY_ENDED);
    }

    private static void dispatch(RaceFixture fixture, Storage through, EventDispatchStore.Place place) {
        through.eventDispatch().dispatch(place, fixture.heads(), EventPosition.endOf(1), FIRST_RUN);
    }

    /** Does what a round of the engine does: moves the place and all cursors behind the first snapshot. */
    private static Object catchUp(RaceFixture fixture, Storage through, Sender sender) {
        EventDispatchStore dispatch = through.eventDispatch();
        EventDispatchStore.Place place = dispatch.place();
        if (place.position().base() < 1) dispatch(fixture, through, place);
        for (EventDispatchStore.Cursor late : dispatch.behind(10)) {
            List<EventId> selected = fixture.heads().stream()
                    .filter(head -> late.pattern().matches(head.topic(), head.type())
                            && !late.skipped().contains(head.id()))
                    .map(EventDispatchStore.Head::id)
                    .toList();
            if (late.cursor().base() < 1 && late.endsAtSnapshot() == null)
                dispatch.deliver(
                        List.of(new EventDispatchStore.Delivery(late, selected)), EventPosition.endOf(1), FIRST_RUN);
        }
        List<EventDispatchStore.Name> arrived = dispatch.behind(10).stream()
                .filter(late -> late.endsAtSnapshot() == null && late.cursor().base() == 1)
                .map(EventDispatchStore.Cursor::name)
                .toList();
        dispatch.join(dispatch.place(), arrived);
        return "done";
    }

    /** Returns an id whose partition exists. */
    private static EventId today(Sender sender) {
        return new EventId(new UUID(
                StoreFixture.NOON.toEpochMilli() << 16 | 0x7000,
                RaceFixture.newRunId(sender, 1).value().getLeastSignificantBits()));
    }

    /** Ticks that publish an event, beside other statements that end or release their attempts. */
    private void ticks() {
        add(
                "AttemptEndings.PUBLISH",
                (fixture, through, sender) -> texts(
                        through.runs().apply(RaceFixture.OWNER, fixture.ended(sender, new Transition.Complete(null)))),
                PUBLISHING_TICKS);
        add(
                "AttemptEndings.DIE",
                (fixture, through, sender) -> texts(
                        through.runs().apply(RaceFixture.OWNER, fixture.ended(sender, new Transition.MarkDead("no")))),
                PUBLISHING_TICKS);
        skipping(Skip.ROW, "RunRepository.PARK_RUNNING", RaceCases.PARK, PUBLISHING_TICKS);
    }

    private void subscriptions() {
        add(
                "SubscriptionRepository.CREATE",
                (fixture, through, sender) -> done(() -> through.events().declare(declaration("order.*"))),
                EMPTY);
        add(
                "SubscriptionRepository.CHANGE",
                (fixture, through, sender) ->
                        done(() -> through.events().declare(declaration(sender.first() ? "a*" : "b*"))),
                SUBSCRIPTIONS);
        add(
                "SubscriptionRepository.PAUSE",
                (fixture, through, sender) ->
                        through.events().pause(PROJECT, NAME, sender.first() ? "by ann" : "by bob"),
                SUBSCRIPTIONS);
        add(
                "SubscriptionRepository.RESUME",
                (fixture, through, sender) -> through.events().resume(PROJECT, NAME),
                SUBSCRIPTIONS);
        add(
                "SubscriptionRepository.SKIP",
                (fixture, through, sender) -> through.events().skip(PROJECT, NAME, FIRST),
                SUBSCRIPTIONS);
        add(
                "SubscriptionRepository.REMOVE",
                (fixture, through, sender) -> through.events().remove(PROJECT, NAME),
                SUBSCRIBED,
                SUBSCRIPTION_PAUSED,
                REPLAY_ENDED,
                SUBSCRIBED_AT_PLACE,
                SUBSCRIPTION_CAUGHT_UP,
                EMPTY);
        add(
                "SubscriptionRepository.REPLAY",
                (fixture, through, sender) -> replayed(through),
                SUBSCRIBED,
                SUBSCRIBED_AT_PLACE,
                SUBSCRIPTION_PAUSED);
    }

    private static Object replayed(Storage through) {
        try {
            through.events()
                    .replay(new EventStore.Replay(
                            PROJECT, NAME, 9, StoreFixture.NOON.minusSeconds(60), StoreFixture.NOON.plusSeconds(60)));
            return "created";
        } catch (CarillonException unknown) {
            return "unknown";
        }
    }

    private static Object deliver(RaceFixture fixture, Storage through, Sender sender) {
        return texts(through
                .eventDispatch()
                .deliver(
                        List.of(new EventDispatchStore.Delivery(fixture.subscription(), List.of(FIRST))),
                        EventPosition.endOf(1),
                        RaceFixture.newRunId(sender, 0))
                .moved()
                .stream()
                .map(EventDispatchStore.Name::subscriber)
                .toList());
    }

    static EventStore.Declaration declaration(String type) {
        return new EventStore.Declaration(
                PROJECT,
                SubscriptionDefinition.of(
                        NAME,
                        EventPattern.of("orders", type),
                        new SubscriptionTarget.Handler(NAME),
                        Subscribe.inOrder().fromBeginning()),
                Subscription.Owner.CODE);
    }

    static EventToStore event(EventId id, boolean versioned, Long expected) {
        return new EventToStore(
                PROJECT,
                id,
                "orders",
                "order.noted",
                "k",
                versioned,
                expected,
                new Payload("1".getBytes(StandardCharsets.UTF_8), "json"));
    }
}
