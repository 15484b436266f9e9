package io.carillon.it.lostanswer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.it.statement.Statements;
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
 * Every writing statement takes effect while its answer is lost, and is then repeated: it has one effect. The test
 * reads the statements from the constants of the store's classes and fails for a statement without a case.
 */
public class LostAnswerTest {
    /** Constants that are parts of other statements. A test below checks that they are. */
    private static final Set<String> FRAGMENTS = Set.of(
            "RunAdminRepository.INSERT_CANCELLED",
            "RunAdminRepository.INSERT_REDRIVEN",
            "PlanRepository.ADVANCE",
            "PlanRepository.INSERT_PLANNED");

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private FaultProxy proxy;
    private LostAnswerCases cases;
    private PostgresStorage through;

    @BeforeEach
    void open() {
        FIXTURE.clear();
        proxy = FaultProxy.inFrontOf(FIXTURE.database());
        through = new PostgresStorage(proxy.dataSource(), TickPlanner.defaults());
        cases = new LostAnswerCases(FIXTURE, through, proxy.dataSource());
    }

    @AfterEach
    void close() {
        through.close();
        proxy.close();
    }

    public static Stream<String> statements() {
        Set<String> names = new TreeSet<>(Statements.writing().keySet());
        names.removeAll(FRAGMENTS);
        return names.stream();
    }

    @ParameterizedTest
    @MethodSource("statements")
    void takes_effect_once_when_its_answer_is_lost_and_the_call_is_repeated(String name) throws Exception {
        String text = Statements.bare(Statements.text(name));
        LostAnswer lost = cases.of(name);

        proxy.resetAfterCommit(sql -> Statements.bare(sql).equals(text), 1);
        assertThatThrownBy(() -> lost.call().call()).as("first call of " + name).isNotNull();
        assertThat(proxy.lostAcknowledgements()).as("lost answers of " + name).isEqualTo(1);
        proxy.restore();

        lost.check().verify(lost.call().call());
    }

    @Test
    void every_case_names_an_existing_statement() {
        assertThat(statements()).containsAll(cases.names());
    }

    @Test
    void fragments_are_parts_of_statements_and_not_complete_statements() throws SQLException {
        Map<String, String> all = Statements.all();
        for (String fragment : FRAGMENTS) {
            String text = all.get(fragment);
            assertThat(all.entrySet().stream()
                            .filter(other -> !other.getKey().equals(fragment))
                            .filter(other -> other.getValue().contains(text)))
                    .as(fragment + " is part of another statement")
                    .isNotEmpty();
            try (Connection connection = FIXTURE.open();
                    PreparedStatement alone = connection.prepareStatement(
                            "EXPLAIN " + Statements.bare(text).replace("?", "NULL"))) {
                assertThatThrownBy(alone::execute)
                        .as(fragment + " on its own")
                        .hasMessageMatching("(?s).*(\"deleted\" does not exist|syntax error).*");
            }
        }
    }

    @Test
    void a_partition_is_created_once_when_the_answer_is_lost() {
        FIXTURE.clock().stopAt(StoreFixture.NOON.plus(java.time.Duration.ofDays(50)));
        proxy.resetAfterCommit(sql -> sql.contains("ATTACH PARTITION"), 1);

        assertThatThrownBy(() -> through.maintenance().ensurePartitions(0)).isInstanceOf(RuntimeException.class);
        assertThat(proxy.lostAcknowledgements()).isEqualTo(1);

        assertThat(through.maintenance().ensurePartitions(0)).isEqualTo(11);
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(strings = {"COMMENT ON TABLE", "DETACH PARTITION", "DROP TABLE"})
    void a_partition_is_removed_when_the_answer_is_lost(String part) {
        java.time.Duration month = java.time.Duration.ofDays(30);
        FIXTURE.clock().stopAt(StoreFixture.NOON.minus(month));
        FIXTURE.storage().maintenance().ensurePartitions(0);
        FIXTURE.clock().stopAt(StoreFixture.NOON);
        proxy.resetAfterCommit(sql -> sql.contains(part), 1);

        assertThatThrownBy(() -> through.maintenance().dropHistory(month.minusDays(2)))
                .isInstanceOf(RuntimeException.class);
        assertThat(proxy.lostAcknowledgements()).isEqualTo(1);

        through.maintenance().dropHistory(month.minusDays(2));
        assertThat(FIXTURE.query("""
                        SELECT relname FROM pg_class WHERE relnamespace = 'carillon'::regnamespace AND relkind = 'r'
                          AND relname ~ '_202601[0-9]{2}$' AND relname NOT LIKE 'event_%'
                        """).texts()).isEmpty();
    }
}
