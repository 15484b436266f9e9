package io.carillon.it.planning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.NodeConfig;
import io.carillon.internal.engine.Engine;
import io.carillon.internal.engine.EngineParts;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.it.fixture.CallCounter;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** Three nodes, of which one plans for the cluster: the planning calls that each node makes. */
class OneLeaderTest {
    /** All calls that read or write plans; acquiring the planning token is not included. */
    private static final List<String> PLANNING = List.of(
            "plans.hasWork",
            "plans.due",
            "plans.write",
            "plans.updatePauses",
            "plans.replanChangedZones",
            "plans.adaptIntervals");

    private record Member(Engine engine, CallCounter calls) {
        long planned() {
            return PLANNING.stream().mapToLong(calls::countOf).sum();
        }
    }

    @Test
    void only_the_token_holder_plans_and_the_others_try_to_acquire_it() {
        try (TestDatabase database = TestDatabase.migrated()) {
            DataSource pool = database.pool(20);
            try (Storage storage = new PostgresStorage(pool, TickPlanner.defaults())) {
                storage.schedules()
                        .upsert(new ScheduleDefinition(
                                "default",
                                "tick",
                                When.every(Duration.ofSeconds(1)),
                                new ScheduleDefinition.RunTemplate(
                                        "q", 1, "handler", "unknown", "{}".getBytes(StandardCharsets.UTF_8), "json"),
                                SchedulePolicies.defaults()));
                List<Member> members = Stream.of("a", "b", "c")
                        .map(name -> member(name, storage, pool))
                        .toList();
                members.forEach(member -> member.engine.start());
                try {
                    await().atMost(Duration.ofSeconds(30))
                            .until(() -> members.stream()
                                    .allMatch(member -> member.calls.countOf("plans.acquireToken") >= 3));
                    List<Member> planners = members.stream()
                            .filter(member -> member.planned() > 0)
                            .toList();
                    assertThat(planners).as("nodes that planned").hasSize(1);

                    planners.get(0).engine.close();
                    await().atMost(Duration.ofSeconds(30))
                            .until(() -> members.stream()
                                            .filter(member -> member.planned() > 0)
                                            .count()
                                    == 2);
                } finally {
                    members.forEach(member -> member.engine.close());
                }
            }
        }
    }

    private static Member member(String name, Storage storage, DataSource pool) {
        CallCounter calls = new CallCounter();
        return new Member(
                new Engine(
                        new EngineParts(
                                calls.around(storage),
                                Map.of(),
                                pool::getConnection,
                                Listeners.none(),
                                TickPlanner.defaults(),
                                new EngineParts.NodeIdentity(name, "here", 1, "test")),
                        NodeConfig.defaults().planning(NodeConfig.Planning.LEADER)),
                calls);
    }
}
