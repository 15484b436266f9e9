package io.carillon.it.planning;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How often planning writes a schedule, compared with how often the schedule runs. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class PlanWritesTest {
    private static final HandlerType<String> JOB = HandlerType.of("job", String.class);
    private static final int SECONDS = 300;

    private final TestDatabase database;
    private final TestClock clock;
    private final ApiFixture fixture;

    PlanWritesTest(TestDatabase database, TestClock clock) {
        this.database = database;
        this.clock = clock;
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        database.execute(
                "DROP TRIGGER count_write ON carillon.schedule; DROP FUNCTION count_write(); DROP TABLE plan_write");
        fixture.close();
    }

    @Tag("slow")
    @Test
    void a_schedule_of_every_second_is_planned_once_a_minute_and_runs_each_second() {
        database.execute("""
                CREATE TABLE plan_write (at timestamptz NOT NULL);
                CREATE FUNCTION count_write() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  INSERT INTO plan_write VALUES (carillon.clock());
                  RETURN NULL;
                END $$;
                CREATE TRIGGER count_write AFTER UPDATE ON carillon.schedule
                  FOR EACH ROW EXECUTE FUNCTION count_write()""");
        AtomicInteger runs = new AtomicInteger();
        Carillon carillon = fixture.client(builder -> builder.handle(JOB, (text, run) -> runs.incrementAndGet()));
        carillon.schedules().upsert("secondly", When.every(Duration.ofSeconds(1)), JOB, "");

        // A planning round in each second: a plan is written only when ticks are missing, not in each round.
        for (int second = 1; second <= SECONDS; second++) {
            clock.advance(Duration.ofSeconds(1));
            carillon.runDue(Duration.ofSeconds(10));
            assertThat(runs).as("runs after %d s", second).hasValue(second);
        }

        long writes = fixture.query("SELECT count(*) FROM plan_write").number();
        System.out.printf("plan writes=%d ticks=%d%n", writes, SECONDS);
        assertThat(writes)
                .as("the initial plan, then one write for each minute of ticks")
                .isBetween(SECONDS / 64L, SECONDS / 60L + 2);
    }
}
