package io.carillon.it.observability;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.schedule.When;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunListener;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.ScheduleListener;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Non-blocking listeners: the node calls them in order and for every event, even next to a slow listener. */
@CarillonTest
class QuickListenerTest {
    record Item(int number) {}

    private static final HandlerType<Item> ITEM = HandlerType.of("item", Item.class);

    /** More events than the queue of a slow listener holds. */
    private static final int MANY = 60_000;

    private final ApiFixture fixture;
    private final Map<String, Queue<String>> eventsByRun = new ConcurrentHashMap<>();
    private final LongAdder events = new LongAdder();
    private final AtomicInteger planned = new AtomicInteger();
    private final CountDownLatch hold = new CountDownLatch(1);
    private final AtomicInteger slowListenerEvents = new AtomicInteger();
    private final Queue<String> blockingListenerEvents = new ConcurrentLinkedQueue<>();

    QuickListenerTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        hold.countDown();
        fixture.close();
    }

    private final class QuickListener implements RunListener, ScheduleListener {
        private final boolean recordsEvents;

        QuickListener(boolean recordsEvents) {
            this.recordsEvents = recordsEvents;
        }

        @Override
        public boolean isNonBlocking() {
            return true;
        }

        @Override
        public void onRunEvent(RunEvent event) {
            if (recordsEvents)
                eventsByRun
                        .computeIfAbsent(event.run().id().toString(), run -> new ConcurrentLinkedQueue<>())
                        .add(text(event));
            // Last, because the tests wait for this count and then read the events.
            events.increment();
        }

        private static String text(RunEvent event) {
            return event instanceof RunEvent.AttemptStarted
                    ? "started " + event.run().attempt()
                    : event.getClass().getSimpleName();
        }

        @Override
        public void onScheduleEvent(ScheduleEvent event) {
            if (event instanceof ScheduleEvent.Planned ticks) planned.addAndGet(ticks.ticks());
        }
    }

    /** Blocks in its first event until the test ends. */
    private final class SlowListener implements RunListener {
        @Override
        public void onRunEvent(RunEvent event) {
            slowListenerEvents.incrementAndGet();
            try {
                hold.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Test
    void are_called_before_the_handler_and_in_order_for_each_run() {
        Queue<String> early = new ConcurrentLinkedQueue<>();
        Carillon node = fixture.node(builder -> builder.listener(new SlowListener())
                .listener(new QuickListener(true))
                .handle(
                        ITEM,
                        (item, run) -> {
                            // The thread that calls the handler has called the non-blocking listener before.
                            if (eventsByRun.get(run.id().toString()).contains("started " + run.attempt()))
                                early.add("notified");
                            if (item.number() % 4 == 3) throw new IllegalStateException("no");
                        },
                        HandlerOptions.defaults().retry(Retry.none())));

        List<String> runs = IntStream.range(0, 40)
                .mapToObj(i -> node.enqueue(ITEM, new Item(i)).run().toString())
                .toList();

        eventually().until(() -> events.sum() == 40 * 2);
        assertThat(early).hasSize(40);
        for (int i = 0; i < 40; i++)
            assertThat(eventsByRun.get(runs.get(i))).containsExactly("started 1", i % 4 != 3 ? "Succeeded" : "Dead");
        eventually().until(() -> slowListenerEvents.get() == 1);
    }

    @Test
    void receive_everything_while_a_slow_listener_does_not() {
        Carillon node = fixture.node(builder -> builder.listener(new SlowListener())
                .listener(new QuickListener(false))
                .handle(ITEM, (item, run) -> {}));

        node.enqueueAll(ITEM, IntStream.range(0, MANY).mapToObj(Item::new).toList());

        eventually().until(() -> events.sum() == 2L * MANY);
        eventually().until(() -> slowListenerEvents.get() == 1);
    }

    @Tag("slow")
    @Test
    void are_called_for_planned_ticks_and_blocking_listeners_are_not() {
        Carillon node = fixture.node(builder -> builder.listener(new QuickListener(false))
                .scheduleListener(
                        event -> blockingListenerEvents.add(event.getClass().getSimpleName()))
                .handle(ITEM, (item, run) -> {}));

        node.schedules().upsert("s", When.every(Duration.ofSeconds(1)), ITEM, new Item(1));
        eventually().until(() -> planned.get() > 0);
        node.schedules().delete("s");

        // A listener receives its events in order.
        eventually().until(() -> blockingListenerEvents.contains("Deleted"));
        assertThat(blockingListenerEvents).contains("Created").doesNotContain("Planned");
    }
}
