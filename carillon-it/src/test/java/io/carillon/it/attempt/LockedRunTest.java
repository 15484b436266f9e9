package io.carillon.it.attempt;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.BulkActions;
import io.carillon.Carillon;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.CancelResult;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A caller that locks a run in a long transaction delays that run only. */
@CarillonTest
class LockedRunTest {
    record Letter(String to) {}

    private static final HandlerType<Letter> SLOW = HandlerType.of("letter.slow", Letter.class);
    private static final HandlerType<Letter> QUICK = HandlerType.of("letter.quick", Letter.class);
    private static final Enqueue LATER = Enqueue.after(Duration.ofHours(1));

    private final ApiFixture fixture;

    LockedRunTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void other_runs_end_while_a_long_transaction_locks_a_run() throws SQLException {
        CountDownLatch goOn = new CountDownLatch(1);
        Carillon carillon = fixture.node(builder -> builder.handle(
                        SLOW,
                        (letter, run) ->
                                assertThat(goOn.await(60, TimeUnit.SECONDS)).isTrue())
                .handle(QUICK, (letter, run) -> {}));
        RunId slow = carillon.enqueue(SLOW, new Letter("ann")).run();
        awaitState(carillon, slow, RunState.RUNNING);
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            // Locks the run as a cancellation does; the node sees the request after the commit.
            assertThat(carillon.in(connection).runs().cancel(slow, "not needed any more"))
                    .isEqualTo(new CancelResult.Requested());
            goOn.countDown();
            for (int round = 0; round < 3; round++) {
                List<RunId> others = new ArrayList<>();
                for (int i = 0; i < 10; i++)
                    others.add(carillon.enqueue(QUICK, new Letter("bob")).run());
                for (RunId other : others) awaitState(carillon, other, RunState.SUCCEEDED);
            }
            assertThat(carillon.runs().get(slow).map(Run::state)).contains(RunState.RUNNING);
            connection.commit();
            connection.setAutoCommit(true);
        }
        eventually()
                .until(() -> carillon.runs().get(slow).orElseThrow().instants().endedAt() != null);
        assertThat(carillon.runs().get(slow).map(Run::attempt)).contains(1);
    }

    @Test
    void a_bulk_action_calls_its_progress_callback_while_a_run_is_locked() throws SQLException {
        Carillon client = fixture.client(builder -> builder.handle(SLOW, (letter, run) -> {}));
        RunId locked = client.enqueue(SLOW, new Letter("ann"), LATER).run();
        client.enqueue(SLOW, new Letter("bob"), LATER);
        List<Long> seen = new ArrayList<>();
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            assertThat(client.in(connection).runs().cancel(locked, "not needed any more"))
                    .isEqualTo(new CancelResult.Cancelled());

            BulkActions.Result result = client.runs()
                    .bulk(RunFilter.all().state(RunState.WAITING))
                    .continueWhile(done -> {
                        seen.add(done);
                        // The first chunk is done, and the wait for the locked run exceeded the statement timeout.
                        if (seen.size() == 2) rollBack(connection);
                        return true;
                    })
                    .cancel();
            connection.setAutoCommit(true);

            assertThat(result).isEqualTo(new BulkActions.Result(2, false));
        }
        assertThat(seen).containsExactly(1L, 1L, 2L);
        assertThat(client.runs().get(locked).map(Run::state)).contains(RunState.CANCELLED);
    }

    private static void rollBack(Connection connection) {
        try {
            connection.rollback();
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
