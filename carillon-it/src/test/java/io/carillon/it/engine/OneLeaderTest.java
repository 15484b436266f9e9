package io.carillon.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.engine.Engine;
import io.carillon.engine.EngineConfig;
import io.carillon.engine.EngineParts;
import io.carillon.engine.Listeners;
import io.carillon.postgres.PostgresStorage;
import io.carillon.schedule.Definition;
import io.carillon.schedule.Policies;
import io.carillon.schedule.TickPlanner;
import io.carillon.schedule.When;
import io.carillon.store.Storage;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** Three nodes of which one plans for all: what each of them asks the database for. */
class OneLeaderTest {
    /** Everything planning reads or writes; bidding for the token is no planning. */
    private static final List<String> PLANNING = List.of(
            "plans.anything",
            "plans.due",
            "plans.write",
            "plans.turnPauses",
            "plans.followZones",
            "plans.followBacklogs");

    private record Member(Engine engine, Counted calls) {
        long planned() {
            return PLANNING.stream().mapToLong(calls::of).sum();
        }
    }

    @Test
    void only_the_holder_plans_and_the_others_bid() {
        try (TestDatabase database = TestDatabase.migrated()) {
            DataSource pool = database.pool(20);
            try (Storage storage = new PostgresStorage(pool, TickPlanner.defaults())) {
                storage.schedules()
                        .upsert(new Definition(
                                "default",
                                "tick",
                                When.every(Duration.ofSeconds(1)),
                                new Definition.What(
                                        "q", 1, "handler", "nobody", "{}".getBytes(StandardCharsets.UTF_8), "json"),
                                Policies.defaults()));
                List<Member> members = Stream.of("a", "b", "c")
                        .map(name -> member(name, storage, pool))
                        .toList();
                members.forEach(member -> member.engine.start());
                try {
                    await().atMost(Duration.ofSeconds(30))
                            .until(() -> members.stream().allMatch(member -> member.calls.of("plans.lead") >= 3));
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
        Counted calls = new Counted();
        return new Member(
                new Engine(
                        new EngineParts(
                                calls.around(storage),
                                Map.of(),
                                pool::getConnection,
                                Listeners.none(),
                                TickPlanner.defaults(),
                                new EngineParts.NodeIdentity(name, "here", 1, "test")),
                        EngineConfig.defaults().with(EngineConfig.Planning.LEADER)),
                calls);
    }
}
