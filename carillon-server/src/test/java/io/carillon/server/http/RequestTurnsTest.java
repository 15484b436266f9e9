package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.carillon.server.openapi.OpenApiDescription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A project executes few requests at the same time while other projects send requests too. */
@Timeout(30)
class RequestTurnsTest {
    private static final int TOGETHER = 4;

    private final AtomicLong nanos = new AtomicLong();
    private final RequestTurns turns = new RequestTurns(TOGETHER, Duration.ofSeconds(5), nanos::get);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<RequestPermits.Permit> taken = new CopyOnWriteArrayList<>();

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    private void takeInBackground(String project, int requests) {
        for (int i = 0; i < requests; i++)
            threads.execute(() -> {
                try {
                    taken.add(turns.take(project, 1));
                } catch (Problem testHasEnded) {
                    // The thread was interrupted. Awaitility would report the exception in the next test.
                }
            });
    }

    @Test
    void a_project_that_is_alone_has_no_limit() {
        for (int i = 0; i < 10 * TOGETHER; i++) taken.add(turns.take("only", 1));

        assertThat(taken).hasSize(10 * TOGETHER);
    }

    @Test
    void a_project_has_its_share_of_the_turns_while_another_one_sends_requests() {
        RequestPermits.Permit fine = turns.take("fine", 1);
        takeInBackground("greedy", 3 * TOGETHER);

        await().until(() -> taken.size() == TOGETHER / 2);
        for (int i = 0; i < 100; i++) turns.take("fine", 1).release();
        assertThat(taken).hasSize(TOGETHER / 2);
        taken.get(0).release();
        await().until(() -> taken.size() == TOGETHER / 2 + 1);
        fine.release();
    }

    @Test
    void many_projects_have_one_turn_each() {
        List<RequestPermits.Permit> others = new ArrayList<>();
        for (int i = 0; i < 3 * TOGETHER; i++) others.add(turns.take("project" + i, 1));
        takeInBackground("project0", 1);

        others.get(1).release();
        assertThat(taken).isEmpty();
        others.get(0).release();
        await().until(() -> taken.size() == 1);
    }

    @Test
    void a_search_takes_two_turns_and_is_executed_alone_if_the_project_has_only_one() {
        turns.take("fine", 1);
        taken.add(turns.take("greedy", 2));
        takeInBackground("greedy", 1);
        turns.take("fine", 1);
        assertThat(taken).hasSize(1);
        taken.get(0).release();
        await().until(() -> taken.size() == 2);

        for (int i = 0; i < TOGETHER; i++) turns.take("project" + i, 2);
    }

    @Test
    void a_project_searches_for_half_of_the_time_while_another_one_sends_requests() {
        RequestPermits.Permit fine = turns.take("fine", 1);
        for (int i = 0; i < 3; i++) {
            RequestPermits.Permit search = turns.take("greedy", 2);
            advance(Duration.ofMillis(100));
            search.release();
        }
        threads.execute(() -> taken.add(turns.take("greedy", 2)));
        // 300 ms of searches cost 600 ms; 300 ms have passed, and 200 ms are allowed in advance.
        advance(Duration.ofMillis(98));
        for (int i = 0; i < 100; i++) turns.take("fine", 1).release();
        assertThat(taken).isEmpty();

        advance(Duration.ofMillis(4));
        await().until(() -> taken.size() == 1);
        fine.release();
    }

    private void advance(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    @Test
    void a_project_that_was_alone_has_no_searches_to_pay_for() {
        for (int i = 0; i < 10; i++) {
            RequestPermits.Permit search = turns.take("only", 2);
            advance(Duration.ofMillis(100));
            search.release();
        }
        turns.take("other", 1);
        turns.take("only", 2).release();
    }

    @Test
    void the_pause_after_long_searches_is_a_second_at_most() {
        turns.take("fine", 1);
        RequestPermits.Permit search = turns.take("greedy", 2);
        advance(Duration.ofSeconds(60));
        search.release();
        Thread waiting = new Thread(() -> taken.add(turns.take("greedy", 2)));
        waiting.start();
        await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
        assertThat(taken).isEmpty();
        advance(Duration.ofSeconds(1));

        await().until(() -> taken.size() == 1);
    }

    @Test
    void searches_for_planned_instants_take_two_turns() {
        assertThat(RequestTurns.turnsOf(
                        Route.post("/v1/schedules:preview", Permission.READ, request -> ApiResponse.noContent())))
                .isEqualTo(2);
        assertThat(RequestTurns.turnsOf(Route.get("/v1/timeline", Permission.READ, request -> ApiResponse.noContent())))
                .isEqualTo(2);
        assertThat(RequestTurns.turnsOf(Route.get("/v1/runs", Permission.READ, request -> ApiResponse.noContent())))
                .isEqualTo(1);
        assertThat(RequestTurns.turnsOf(
                        Route.post("/v1/webhooks/test", Permission.MANAGE, request -> ApiResponse.noContent())))
                .isEqualTo(1);
        assertThat(RequestTurns.turnsOf(
                        Route.post("/v1/run-due", Permission.ADMIN, request -> ApiResponse.noContent())))
                .isZero();
    }

    @Test
    void the_limit_ends_a_second_after_the_last_request_of_the_other_projects() {
        turns.take("fine", 1).release();
        takeInBackground("greedy", 3 * TOGETHER);
        await().until(() -> taken.size() == TOGETHER / 2);

        nanos.addAndGet(Duration.ofMillis(1_100).toNanos());

        await().until(() -> taken.size() == 3 * TOGETHER);
    }

    @Test
    void a_request_without_a_turn_is_refused_after_a_time_and_the_next_one_gets_it() {
        turns.take("fine", 1);
        for (int i = 0; i < TOGETHER / 2; i++) taken.add(turns.take("greedy", 1));
        List<Throwable> refused = new CopyOnWriteArrayList<>();
        threads.execute(() -> {
            try {
                turns.take("greedy", 1);
            } catch (Problem problem) {
                refused.add(problem);
            }
        });

        await().until(() -> {
            nanos.addAndGet(Duration.ofSeconds(1).toNanos());
            return refused.size() == 1;
        });
        assertThat(refused.get(0)).hasMessageContaining("fewer requests at the same time");
        taken.get(0).release();
        turns.take("greedy", 1).release();
    }

    /** A thread that is woken in vain takes the lock that the requests of other projects need, and a processor. */
    @Test
    void the_end_of_a_request_wakes_the_next_one_of_the_project_only() {
        int requests = 40;
        AtomicInteger wakeUps = new AtomicInteger();
        RequestTurns counted = new RequestTurns(TOGETHER, Duration.ofSeconds(5), () -> {
            wakeUps.incrementAndGet();
            return nanos.get();
        });
        counted.take("fine", 1);
        for (int i = 0; i < TOGETHER / 2; i++) taken.add(counted.take("greedy", 1));
        List<Thread> waiting = new ArrayList<>();
        for (int i = 0; i < requests; i++) waiting.add(new Thread(() -> taken.add(counted.take("greedy", 1))));
        waiting.forEach(Thread::start);
        await().until(() -> waiting.stream().allMatch(one -> one.getState() == Thread.State.TIMED_WAITING));

        wakeUps.set(0);
        for (int i = 0; i < requests; i++) {
            int ended = i;
            await().until(() -> taken.size() > ended);
            taken.get(i).release();
        }
        await().until(() -> taken.size() == TOGETHER / 2 + requests);

        assertThat(wakeUps).hasValueLessThan(20 * requests);
    }

    @Test
    void an_interrupt_ends_the_wait() {
        turns.take("fine", 1);
        for (int i = 0; i < TOGETHER / 2; i++) turns.take("greedy", 1);

        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(() -> turns.take("greedy", 1)).isInstanceOf(Problem.class);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void operations_without_a_turn_exist() {
        assertThat(OpenApiDescription.instance().operations().stream()
                        .map(operation -> operation.method() + " " + operation.path()))
                .containsAll(RequestTurns.WITHOUT_TURN);
    }
}
