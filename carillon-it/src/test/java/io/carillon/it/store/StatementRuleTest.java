package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * No statement writes by its place a row that a lock of the same statement found (decision 26): after a wait the lock names a version that the write does
 * not see. Statements are read from the constants of the store's classes and from the functions of the schema.
 */
class StatementRuleTest {
    private static final Pattern LOCKS =
            Pattern.compile("\\bFOR\\s+(NO\\s+KEY\\s+)?UPDATE\\b|\\bcarillon\\.(pick|lock_\\w+)\\(");

    private static final Pattern WRITES_BY_PLACE = Pattern.compile(
            "\\b(UPDATE|DELETE\\s+FROM)\\s+carillon\\.\\w+.*?\\bWHERE\\b.*?\\bctid\\s*=", Pattern.DOTALL);

    private static final Pattern INSERTS =
            Pattern.compile("INSERT\\s+INTO\\s+carillon\\.(run|run_history|dead_run)\\s*\\(([^)]*)\\)");

    /** Statements that do, and why that is harmless. */
    private static final Map<String, String> ALLOWED = Map.of(
            "RunRepository.CLAIM", "a claim: a run that was missed is claimed next time",
            "RunRepository.CLAIM_SUSPECTS", "a claim: a run that was missed is claimed next time",
            "LaneGates.TAKE", "a claim: a run that was missed is claimed next time",
            "GateRepository.ARRIVE", "a mark: what was missed is marked by the next look, a second later",
            "GateRepository.PASS", "a gate where a run was missed is named as busy and looked at again",
            "RateGates.LET_START", "a gate where a run was missed is named as busy and looked at again",
            "NodeRepository.WAKE", "a run that was missed is found by the next beat",
            "NodeRepository.WAKE_STRANGERS", "a run that was missed is found by the next beat");

    @Test
    void no_statement_writes_by_place_what_it_has_just_locked() {
        Set<String> found = new TreeSet<>();
        statements().forEach((name, text) -> {
            if (LOCKS.matcher(text).find() && WRITES_BY_PLACE.matcher(text).find()) found.add(name);
        });

        assertThat(found).as("statements that lock and write by place").isEqualTo(new TreeSet<>(ALLOWED.keySet()));
    }

    @Test
    void the_columns_of_new_ended_and_dead_runs_are_listed_in_one_place_each() {
        Map<String, String> first = Map.of(
                "run",
                        "project, queue, class, target, target_name, codec, payload, trace, id, origin, due_at, ready_at, day",
                "run_history",
                        "project, id, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, created_at",
                "dead_run",
                        "project, id, queue, class, attempt, failures, crashes, owner, due_at, planned_at, schedule_id");
        Set<String> others = new TreeSet<>();
        Statements.all()
                .forEach((name, text) -> INSERTS.matcher(text).results().forEach(insert -> {
                    String columns = insert.group(2).replaceAll("\\s+", " ");
                    if (!columns.startsWith(first.get(insert.group(1)))) others.add(name + ": " + columns);
                }));

        assertThat(others)
                .as("inserts that do not come from NewRunRows or HistoryRows")
                .isEmpty();
    }

    /** Constants by their name; each statement of a function by the function's name and its number in it. */
    private static Map<String, String> statements() {
        Map<String, String> all = new TreeMap<>(Statements.all());
        try (TestDatabase database = TestDatabase.migrated()) {
            Rows rows = new Rows(database.dataSource());
            for (String name : rows.texts("""
                    SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'carillon'::regnamespace ORDER BY 1
                    """)) {
                String body = rows.text("SELECT prosrc FROM pg_proc WHERE oid = ?::regprocedure", name);
                int number = 0;
                for (String statement : body.split(";", -1)) all.put(name + " " + ++number, statement);
            }
        }
        return all;
    }
}
