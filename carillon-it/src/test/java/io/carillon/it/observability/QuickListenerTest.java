package io.carillon.it.observability;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Attempt;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.Transition;
import io.carillon.schedule.When;
import io.carillon.spi.RunListener;
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

    QuickListenerTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        hold.countDown();
        fixture.close();
    }

    private final class QuickListener implements RunListener {
        private final boolean recordsEvents;

        QuickListener(boolean recordsEvents) {
            this.recordsEvents = recordsEvents;
        }

        @Override
        public boolean isNonBlocking() {
            return true;
        }

        private void add(Attempt attempt, String what) {
            events.increment();
            if (recordsEvents)
                eventsByRun
                        .computeIfAbsent(attempt.run().toString(), run -> new ConcurrentLinkedQueue<>())
                        .add(what);
        }

        @Override
        public void onAttemptStarted(Attempt attempt) {
            add(attempt, "started " + attempt.number());
        }

        @Override
        public void onAttemptEnded(Attempt attempt, Transition transition, Duration took) {
            add(attempt, "ended " + transition.getClass().getSimpleName());
        }

        @Override
        public void onRunDead(Attempt attempt, String error) {
            add(attempt, "dead");
        }

        @Override
        public void onTicksPlanned(String project, String schedule, int ticks) {
            planned.addAndGet(ticks);
        }
    }

    /** Blocks in its first event until the test ends. */
    private final class SlowListener implements RunListener {
        @Override
        public void onAttemptStarted(Attempt attempt) {
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
                            // Fewer than half of the runs fail; otherwise the breaker of the queue opens.
                            if (item.number() % 4 == 3) throw new IllegalStateException("no");
                        },
                        HandlerOptions.defaults().retry(Retry.none())));

        List<String> runs = IntStream.range(0, 40)
                .mapToObj(i -> node.enqueue(ITEM, new Item(i)).run().toString())
                .toList();

        eventually().until(() -> events.sum() == 40 * 2 + 10);
        assertThat(early).hasSize(40);
        for (int i = 0; i < 40; i++)
            assertThat(eventsByRun.get(runs.get(i)))
                    .containsExactlyElementsOf(
                            i % 4 != 3
                                    ? List.of("started 1", "ended Complete")
                                    : List.of("started 1", "ended MarkDead", "dead"));
        assertThat(slowListenerEvents).hasValue(1);
    }

    @Test
    void receive_everything_while_a_slow_listener_does_not() {
        Carillon node = fixture.node(builder -> builder.listener(new SlowListener())
                .listener(new QuickListener(false))
                .handle(ITEM, (item, run) -> {}));

        node.enqueueAll(ITEM, IntStream.range(0, MANY).mapToObj(Item::new).toList());

        eventually().until(() -> events.sum() == 2L * MANY);
        assertThat(slowListenerEvents).hasValue(1);
    }

    @Test
    void are_called_for_planned_ticks() {
        Carillon node = fixture.node(builder -> builder.listener(new SlowListener())
                .listener(new QuickListener(false))
                .handle(ITEM, (item, run) -> {}));

        node.schedules().upsert("s", When.every(Duration.ofSeconds(1)), ITEM, new Item(1));

        eventually().until(() -> planned.get() > 0);
    }
}
