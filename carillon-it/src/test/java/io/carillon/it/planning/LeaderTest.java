package io.carillon.it.planning;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.NodeConfig.Planning;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Instant;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Planning mode leader: only the node that holds the planning token plans. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class LeaderTest {
    record Report(String region) {}

    private static final HandlerType<Report> REPORT = HandlerType.of("report.make", Report.class);
    private static final String HOLDER = """
            SELECT coalesce((SELECT n.name FROM carillon.leader_token t JOIN carillon.node n ON n.id = t.owner
                              WHERE t.name = 'planning' AND t.expires_at > carillon.clock()), '-')
            """;

    private final Queue<String> made = new ConcurrentLinkedQueue<>();
    private final TestClock clock;
    private final ApiFixture fixture;

    LeaderTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void when_the_leader_stops_another_node_plans() {
        Carillon first = node("first");
        eventually().until(() -> fixture.query(HOLDER).text().equals("first"));
        node("second");
        first.schedules().upsert("r", When.cron("0 * * * *", "UTC"), REPORT, new Report("eu"));

        clock.stopAt(Instant.parse("2026-05-04T13:00:00Z"));
        eventually().until(() -> made.size() == 1);
        first.close();
        eventually().until(() -> fixture.query(HOLDER).text().equals("second"));
        clock.stopAt(Instant.parse("2026-05-04T14:00:00Z"));
        eventually().until(() -> made.size() == 2);

        assertThat(made).containsExactly("13:00", "14:00");
        assertThat(fixture.query("SELECT epoch FROM carillon.leader_token WHERE name = 'planning'")
                        .number())
                .isGreaterThan(1);
    }

    private Carillon node(String name) {
        return fixture.node(builder -> builder.nodeName(name)
                .planning(Planning.LEADER)
                .handle(
                        REPORT,
                        (report, run) -> made.add(
                                run.plannedAt().orElseThrow().toString().substring(11, 16))));
    }
}
