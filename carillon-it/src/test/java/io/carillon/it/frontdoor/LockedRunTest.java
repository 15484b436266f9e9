package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.awaitState;
import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Bulk;
import io.carillon.Carillon;
import io.carillon.run.Cancellation;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Progress;
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

/** A caller that keeps a run locked in a long transaction holds up that run and no other. */
@CarillonTest
class LockedRunTest {
    record Letter(String to) {}

    private static final HandlerType<Letter> SLOW = HandlerType.of("letter.slow", Letter.class);
    private static final HandlerType<Letter> QUICK = HandlerType.of("letter.quick", Letter.class);
    private static final Enqueue LATER = Enqueue.after(Duration.ofHours(1));

    private final House house;

    LockedRunTest(TestDatabase database) {
        house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void other_runs_end_while_a_long_transaction_keeps_one_locked() throws SQLException {
        CountDownLatch goOn = new CountDownLatch(1);
        Carillon carillon = house.node(builder -> builder.handle(
                        SLOW,
                        (letter, run) ->
                                assertThat(goOn.await(60, TimeUnit.SECONDS)).isTrue())
                .handle(QUICK, (letter, run) -> {}));
        RunId slow = carillon.enqueue(SLOW, new Letter("ann")).run();
        awaitState(carillon, slow, RunState.RUNNING);
        try (Connection connection = house.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            // Locks the run as a cancellation does, but tells nobody yet.
            assertThat(carillon.in(connection).runs().cancel(slow, "not needed any more"))
                    .isEqualTo(new Cancellation.Requested());
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
    void a_bulk_action_asks_its_watcher_while_a_run_stays_locked_and_does_all_of_them() throws SQLException {
        Carillon client = house.client(builder -> builder.handle(SLOW, (letter, run) -> {}));
        RunId locked = client.enqueue(SLOW, new Letter("ann"), LATER).run();
        client.enqueue(SLOW, new Letter("bob"), LATER);
        List<Progress> seen = new ArrayList<>();
        try (Connection connection = house.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            assertThat(client.in(connection).runs().cancel(locked, "not needed any more"))
                    .isEqualTo(new Cancellation.Cancelled());

            Bulk.Result result = client.runs()
                    .bulk(RunFilter.all().state(RunState.WAITING))
                    .watched(progress -> {
                        seen.add(progress);
                        // The first chunk is done, and the wait for the locked run was too long for one statement.
                        if (seen.size() == 2) rollBack(connection);
                        return true;
                    })
                    .cancel();
            connection.setAutoCommit(true);

            assertThat(result).isEqualTo(new Bulk.Result(2, false));
        }
        assertThat(seen).containsExactly(new Progress(1, 2), new Progress(1, 2), new Progress(2, 2));
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
