package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.Attempt;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
import io.carillon.schedule.When;
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

/** Listeners that only count: told at once, in order and of everything, whatever the others do. */
@CarillonTest
class QuickListenerTest {
    record Item(int number) {}

    private static final HandlerType<Item> ITEM = HandlerType.of("item", Item.class);

    /** More events than wait for a slow listener. */
    private static final int MANY = 60_000;

    private final House house;
    private final Map<String, Queue<String>> heard = new ConcurrentHashMap<>();
    private final LongAdder events = new LongAdder();
    private final AtomicInteger planned = new AtomicInteger();
    private final CountDownLatch hold = new CountDownLatch(1);
    private final AtomicInteger slowlyHeard = new AtomicInteger();

    QuickListenerTest(TestDatabase database) {
        this.house = new House(database);
    }

    @AfterEach
    void close() {
        hold.countDown();
        house.close();
    }

    private final class Quick implements RunListener {
        private final boolean keeps;

        Quick(boolean keeps) {
            this.keeps = keeps;
        }

        @Override
        public boolean quick() {
            return true;
        }

        private void hear(Attempt attempt, String what) {
            if (keeps)
                heard.computeIfAbsent(attempt.run().toString(), run -> new ConcurrentLinkedQueue<>())
                        .add(what);
            // Last: the tests wait for it and then read the rest.
            events.increment();
        }

        @Override
        public void started(Attempt attempt) {
            hear(attempt, "started " + attempt.number());
        }

        @Override
        public void ended(Attempt attempt, Transition transition, Duration took) {
            hear(attempt, "ended " + transition.getClass().getSimpleName());
        }

        @Override
        public void dead(Attempt attempt, String error) {
            hear(attempt, "dead");
        }

        @Override
        public void planned(String project, String schedule, int ticks) {
            planned.addAndGet(ticks);
        }
    }

    /** Takes its first news and never comes back for more. */
    private final class Slow implements RunListener {
        @Override
        public void started(Attempt attempt) {
            slowlyHeard.incrementAndGet();
            try {
                hold.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Test
    void are_told_before_the_handler_is_called_and_of_each_run_in_order() {
        Queue<String> early = new ConcurrentLinkedQueue<>();
        Carillon node = house.node(builder -> builder.listener(new Slow())
                .listener(new Quick(true))
                .handle(
                        ITEM,
                        (item, run) -> {
                            // On the thread that is about to call the handler: nobody has to be waited for.
                            if (heard.get(run.id().toString()).contains("started " + run.attempt())) early.add("told");
                            // Fewer than half, or the breaker of the queue holds back the rest.
                            if (item.number() % 4 == 3) throw new IllegalStateException("no");
                        },
                        options -> options.retry(Retry.none())));

        List<String> runs = IntStream.range(0, 40)
                .mapToObj(i -> node.enqueue(ITEM, new Item(i)).run().toString())
                .toList();

        eventually().until(() -> events.sum() == 40 * 2 + 10);
        assertThat(early).hasSize(40);
        for (int i = 0; i < 40; i++)
            assertThat(heard.get(runs.get(i)))
                    .containsExactlyElementsOf(
                            i % 4 != 3
                                    ? List.of("started 1", "ended Complete")
                                    : List.of("started 1", "ended Die", "dead"));
        eventually().until(() -> slowlyHeard.get() == 1);
    }

    @Test
    void hear_everything_while_a_slow_one_that_hears_the_same_does_not() {
        Carillon node = house.node(builder ->
                builder.listener(new Slow()).listener(new Quick(false)).handle(ITEM, (item, run) -> {}));

        node.enqueueAll(ITEM, IntStream.range(0, MANY).mapToObj(Item::new).toList());

        eventually().until(() -> events.sum() == 2L * MANY);
        eventually().until(() -> slowlyHeard.get() == 1);
    }

    @Test
    void hear_of_planning_too() {
        Carillon node = house.node(builder ->
                builder.listener(new Slow()).listener(new Quick(false)).handle(ITEM, (item, run) -> {}));

        node.schedules().upsert("s", When.every(Duration.ofSeconds(1)), ITEM, new Item(1));

        eventually().until(() -> planned.get() > 0);
    }
}
