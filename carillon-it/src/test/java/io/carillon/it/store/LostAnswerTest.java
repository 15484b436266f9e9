package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.postgres.PostgresStorage;
import io.carillon.schedule.TickPlanner;
import io.carillon.testkit.FaultProxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every writing statement takes effect while its answer is lost, and is then repeated: one effect. The statements are read from the classes; one
 * without a case turns this test red.
 */
class LostAnswerTest {
    /** Parts of statements that are none themselves; that they are is checked below. */
    private static final Set<String> FRAGMENTS =
            Set.of("DeskRepository.CANCELLED", "DeskRepository.REDRIVEN", "PlanRepository.MOVED");

    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    private FaultProxy proxy;
    private LostAnswerCases cases;
    private PostgresStorage through;

    @BeforeEach
    void open() {
        BENCH.clear();
        proxy = FaultProxy.before(BENCH.database());
        through = new PostgresStorage(proxy.dataSource(), TickPlanner.defaults());
        cases = new LostAnswerCases(BENCH, through, proxy.dataSource());
    }

    @AfterEach
    void close() {
        through.close();
        proxy.close();
    }

    static Stream<String> statements() {
        Set<String> names = new TreeSet<>(Statements.writing().keySet());
        names.removeAll(FRAGMENTS);
        return names.stream();
    }

    @ParameterizedTest
    @MethodSource("statements")
    void takes_effect_once_although_its_answer_was_lost(String name) throws Exception {
        String text = Statements.bare(Statements.text(name));
        LostAnswer lost = cases.of(name);

        proxy.cutAfterCommit(sql -> Statements.bare(sql).equals(text), 1);
        assertThatThrownBy(() -> lost.deed().call())
                .as("the first answer of " + name)
                .isNotNull();
        assertThat(proxy.strikes()).as("answers lost of " + name).isEqualTo(1);
        proxy.pass();

        lost.check().on(lost.deed().call());
    }

    @Test
    void every_case_is_of_a_statement_that_exists() {
        assertThat(statements()).containsAll(cases.names());
    }

    @Test
    void fragments_are_parts_of_statements_and_none_themselves() throws SQLException {
        Map<String, String> all = Statements.all();
        for (String fragment : FRAGMENTS) {
            String text = all.get(fragment);
            assertThat(all.entrySet().stream()
                            .filter(other -> !other.getKey().equals(fragment))
                            .filter(other -> other.getValue().contains(text)))
                    .as(fragment + " is part of others")
                    .isNotEmpty();
            try (Connection connection = BENCH.open();
                    PreparedStatement alone = connection.prepareStatement(
                            "EXPLAIN " + Statements.bare(text).replace("?", "NULL"))) {
                assertThatThrownBy(alone::execute)
                        .as(fragment + " on its own")
                        .hasMessageMatching("(?s).*(\"gone\" does not exist|syntax error).*");
            }
        }
    }

    @Test
    void a_partition_whose_creation_was_not_answered_is_there_once() {
        BENCH.clock().at(StoreBench.NOON.plus(java.time.Duration.ofDays(50)));
        proxy.cutAfterCommit(sql -> sql.contains("ATTACH PARTITION"), 1);

        assertThatThrownBy(() -> through.housekeeping().keepPartitions(0)).isInstanceOf(RuntimeException.class);
        assertThat(proxy.strikes()).isEqualTo(1);

        assertThat(through.housekeeping().keepPartitions(0)).isEqualTo(5);
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(strings = {"COMMENT ON TABLE", "DETACH PARTITION", "DROP TABLE"})
    void a_partition_whose_removal_was_not_answered_is_gone(String part) {
        java.time.Duration month = java.time.Duration.ofDays(30);
        BENCH.clock().at(StoreBench.NOON.minus(month));
        BENCH.storage().housekeeping().keepPartitions(0);
        BENCH.clock().at(StoreBench.NOON);
        proxy.cutAfterCommit(sql -> sql.contains(part), 1);

        assertThatThrownBy(() -> through.housekeeping().dropHistory(month.minusDays(2)))
                .isInstanceOf(RuntimeException.class);
        assertThat(proxy.strikes()).isEqualTo(1);

        through.housekeeping().dropHistory(month.minusDays(2));
        assertThat(BENCH.rows().texts("""
                        SELECT relname FROM pg_class WHERE relnamespace = 'carillon'::regnamespace AND relkind = 'r' AND relname ~ '_202601[0-9]{2}$'
                        """)).isEmpty();
    }
}
