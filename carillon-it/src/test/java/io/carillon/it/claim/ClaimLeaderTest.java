package io.carillon.it.claim;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.NodeConfig;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Execution by a leader: only the node that holds the claim token claims runs. */
@CarillonTest
class ClaimLeaderTest {
    private static final HandlerType<Integer> WORK = HandlerType.of("work", Integer.class);
    private static final String HOLDER = """
            SELECT coalesce((SELECT n.name FROM carillon.leader_token t JOIN carillon.node n ON n.id = t.owner
                              WHERE t.name = 'claiming' AND t.expires_at > carillon.clock()), '-')
            """;

    private final ApiFixture fixture;
    private final Queue<String> executed = new ConcurrentLinkedQueue<>();

    ClaimLeaderTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Carillon node(String name) {
        return fixture.node(builder -> builder.config(NodeConfig.defaults()
                        .claiming(NodeConfig.Claiming.LEADER)
                        .leaderTimes(Duration.ofSeconds(2), Duration.ofMillis(200))
                        .shutdownTimeout(Duration.ofSeconds(2)))
                .nodeName(name)
                .handle(WORK, (number, run) -> executed.add(name + " " + number)));
    }

    private void awaitHolder(String name) {
        eventually().until(() -> fixture.query(HOLDER).text().equals(name));
    }

    @Test
    void only_the_leader_executes_and_another_node_takes_over_when_it_stops() {
        Carillon first = node("first");
        awaitHolder("first");
        Carillon second = node("second");
        Carillon client = fixture.client(builder -> builder);
        List<Integer> numbers = IntStream.range(0, 200).boxed().toList();

        client.enqueueAll(WORK, numbers);
        eventually().until(() -> executed.size() == 200);
        assertThat(executed).allMatch(line -> line.startsWith("first "));
        executed.clear();
        first.close();
        awaitHolder("second");
        client.enqueueAll(WORK, numbers);

        eventually().until(() -> executed.size() == 200);
        assertThat(executed).allMatch(line -> line.startsWith("second "));
        assertThat(second.isRunning()).isTrue();
    }

    @Tag("slow")
    @Test
    void a_leader_that_was_replaced_stops_claiming_and_takes_the_token_back_later() {
        node("only");
        awaitHolder("only");
        Carillon client = fixture.client(builder -> builder);

        fixture.database()
                .execute("UPDATE carillon.leader_token SET owner = gen_random_uuid(), epoch = epoch + 1,"
                        + " expires_at = carillon.clock() + interval '8 s' WHERE name = 'claiming'");
        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.leader_token WHERE name = 'claiming'"
                                        + " AND expires_at < carillon.clock() + interval '5 s'")
                                .number()
                        == 1);
        client.enqueue(WORK, 1);
        String waiting = "SELECT count(*) FROM carillon.leader_token t, carillon.run r WHERE t.name = 'claiming'"
                + " AND r.owner IS NULL AND t.expires_at < carillon.clock() + interval '1 s'"
                + " AND t.expires_at > carillon.clock()";
        eventually().until(() -> fixture.query(waiting).number() == 1);
        assertThat(executed).isEmpty();

        awaitHolder("only");
        eventually().untilAsserted(() -> assertThat(executed).containsExactly("only 1"));
    }

    @Test
    void times_of_leaders_are_checked() {
        assertThatThrownBy(() -> NodeConfig.defaults().leaderTimes(Duration.ofMillis(10), Duration.ofMillis(5)))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("between 1 s and 1 h");
        assertThatThrownBy(() -> NodeConfig.defaults().leaderTimes(Duration.ofSeconds(2), Duration.ofSeconds(2)))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("half the lease");
    }
}
