package io.carillon.it.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.Cancellation;
import io.carillon.run.CompletionToken;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Attempts that somebody outside goes on with. */
@CarillonTest(at = "2026-11-15T12:00:00Z")
class AwaitingTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private final CarillonKit kit;
    private final List<String> tokens = new CopyOnWriteArrayList<>();
    private Carillon carillon;

    AwaitingTest(CarillonKit kit) {
        this.kit = kit;
    }

    @BeforeEach
    void open() {
        kit.database().clear();
        carillon = Carillon.on(kit.database().dataSource())
                .handleReturning(
                        JOB,
                        (job, run) -> {
                            CompletionToken token = CompletionToken.next();
                            tokens.add(token.reveal());
                            run.log("handed over");
                            return Outcome.awaiting(HOUR, token);
                        },
                        options -> options.retry(
                                Retry.exponential(MINUTE).factor(1).attempts(2)))
                .build();
        kit.driving(carillon);
    }

    @AfterEach
    void close() {
        carillon.close();
    }

    @Test
    void stays_open_until_whoever_has_the_token_completes_it() {
        RunId run = handedOver();
        kit.advance(Duration.ofMinutes(59)).runDue();

        assertThat(get(run).state()).isEqualTo(RunState.RUNNING);
        assertThat(carillon.runs().explain(run).orElseThrow().summary()).contains("Somebody outside goes on with it");
        assertThat(carillon.runs().complete(run, 1, tokens.get(0))).isTrue();

        assertThat(get(run).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(get(run).attempt()).isEqualTo(1);
        assertThat(get(run).details().log()).contains("handed over");
        assertThat(tokens).hasSize(1);
    }

    @Test
    void nobody_else_completes_it_and_nobody_twice() {
        RunId run = handedOver();
        RunId other = handedOver();

        assertThat(carillon.runs().complete(run, 1, tokens.get(1))).isFalse();
        assertThat(carillon.runs().complete(run, 2, tokens.get(0))).isFalse();
        assertThat(carillon.runs().complete(run, 1, "")).isFalse();
        assertThat(carillon.runs().complete(RunId.next(), 1, tokens.get(0))).isFalse();
        assertThat(carillon.runs().fail(run, 1, CompletionToken.digest(tokens.get(0)), "x"))
                .isFalse();
        try (Carillon stranger =
                Carillon.on(kit.database().dataSource()).project("other").build()) {
            assertThat(stranger.runs().complete(run, 1, tokens.get(0))).isFalse();
        }
        assertThat(get(run).state()).isEqualTo(RunState.RUNNING);

        assertThat(carillon.runs().complete(run, 1, tokens.get(0))).isTrue();
        assertThat(carillon.runs().complete(run, 1, tokens.get(0))).isFalse();
        assertThat(get(other).state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void a_failure_from_outside_is_tried_again_and_the_old_token_is_worth_nothing() {
        RunId run = handedOver();

        assertThat(carillon.runs().fail(run, 1, tokens.get(0), "no space")).isTrue();
        assertThat(carillon.runs().attempts(run).get(0).error()).isEqualTo("no space");
        assertThat(carillon.runs().attempts(run).get(0).log()).contains("handed over");
        kit.advance(MINUTE).runDue();

        assertThat(get(run).attempt()).isEqualTo(2);
        assertThat(carillon.runs().complete(run, 1, tokens.get(0))).isFalse();
        assertThat(carillon.runs().complete(run, 2, tokens.get(0))).isFalse();
        assertThat(carillon.runs().fail(run, 2, tokens.get(1), "again")).isTrue();
        assertThat(get(run).state()).isEqualTo(RunState.DEAD);
        assertThat(get(run).failures()).isEqualTo(2);
    }

    @Test
    void what_nobody_completes_in_time_has_failed() {
        RunId run = handedOver();
        kit.advance(HOUR.plusSeconds(1)).runDue();

        assertThat(carillon.runs().attempts(run).get(0).outcome()).isEqualTo("timed-out");
        assertThat(carillon.runs().complete(run, 1, tokens.get(0)))
                .as("too late")
                .isFalse();
        kit.advance(MINUTE).runDue();
        assertThat(get(run)).returns(2, Run::attempt).returns(1, Run::failures).returns(0, Run::crashes);
        kit.advance(HOUR.plusSeconds(1)).runDue();
        assertThat(get(run).state()).isEqualTo(RunState.DEAD);
    }

    @Test
    void a_cancel_ends_it_at_once() {
        RunId run = handedOver();

        assertThat(carillon.runs().cancel(run)).isEqualTo(new Cancellation.Cancelled());
        assertThat(get(run).state()).isEqualTo(RunState.CANCELLED);
        assertThat(carillon.runs().complete(run, 1, tokens.get(0))).isFalse();
    }

    @Test
    void it_keeps_its_place_under_a_limit() {
        RunId first = enqueue(Enqueue.now().concurrencyKey("disk"));
        RunId second = enqueue(Enqueue.now().concurrencyKey("disk"));
        kit.runDue();

        assertThat(tokens).hasSize(1);
        RunId open = get(first).state() == RunState.RUNNING ? first : second;
        carillon.runs().complete(open, 1, tokens.get(0));
        kit.runDue();
        assertThat(tokens).hasSize(2);
    }

    @Test
    void of_many_who_complete_or_fail_it_at_once_one_is_believed() {
        RunId run = handedOver();
        AtomicInteger believed = new AtomicInteger();

        IntStream.range(0, 8).parallel().forEach(i -> {
            boolean recorded = i % 2 == 0
                    ? carillon.runs().complete(run, 1, tokens.get(0))
                    : carillon.runs().fail(run, 1, tokens.get(0), "no");
            if (recorded) believed.incrementAndGet();
        });

        assertThat(believed).hasValue(1);
    }

    @Test
    void it_outlives_the_node_that_handed_it_over() {
        try (House house = new House(kit.database())) {
            Carillon node = house.node(builder -> builder.handleReturning(JOB, (job, run) -> {
                CompletionToken token = CompletionToken.next();
                tokens.add(token.reveal());
                return Outcome.awaiting(HOUR, token);
            }));
            RunId run = ((io.carillon.run.EnqueueResult.Enqueued) node.enqueue(JOB, new Job("long"))).run();
            House.eventually()
                    .until(() ->
                            carillon.runs().get(run).orElseThrow().details().parked() != null);
            node.close();

            kit.advance(MINUTE.multipliedBy(5)).runDue();
            assertThat(tokens).hasSize(1);
            assertThat(get(run).state()).isEqualTo(RunState.RUNNING);
            assertThat(carillon.runs().complete(run, 1, tokens.get(0))).isTrue();
            assertThat(get(run).state()).isEqualTo(RunState.SUCCEEDED);
        }
    }

    private RunId handedOver() {
        RunId run = enqueue(Enqueue.now());
        kit.runDue();
        assertThat(get(run).state()).isEqualTo(RunState.RUNNING);
        return run;
    }

    private RunId enqueue(Enqueue options) {
        return carillon.enqueue(JOB, new Job("long"), options).run();
    }

    private Run get(RunId run) {
        return carillon.runs().get(run).orElseThrow();
    }
}
