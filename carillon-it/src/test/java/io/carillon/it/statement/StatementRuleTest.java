package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Rules for the texts of statements, which the tests read from the constants of the store's classes and from the
 * functions of the schema. No statement writes by ctid a row that the same statement locked (decision 26): after a lock
 * wait the ctid refers to a row version that the write does not see.
 */
class StatementRuleTest {
    private static final Pattern LOCKS =
            Pattern.compile("\\bFOR\\s+(NO\\s+KEY\\s+)?UPDATE\\b|\\bcarillon\\.(claim_candidates|lock_\\w+)\\(");

    private static final Pattern WRITES_BY_CTID = Pattern.compile(
            "\\b(UPDATE|DELETE\\s+FROM)\\s+carillon\\.\\w+.*?\\bWHERE\\b.*?\\bctid\\s*=", Pattern.DOTALL);

    private static final Pattern INSERTS =
            Pattern.compile("INSERT\\s+INTO\\s+carillon\\.(run|run_history|dead_run)\\s*\\(([^)]*)\\)");

    private static final Pattern WRITES =
            Pattern.compile("\\b(INSERT\\s+INTO|DELETE\\s+FROM|UPDATE)\\s+(carillon\\.\\w+)");

    private static final Pattern LINE_COMMENT = Pattern.compile("--[^\n]*");

    /** Statements that write by ctid a row that they locked, with the reason why this is harmless. */
    private static final Map<String, String> ALLOWED = Map.of(
            "RunRepository.CLAIM", "a claim: the next claim takes a skipped run",
            "RunRepository.CLAIM_ISOLATED", "a claim: the next claim takes a skipped run",
            "LaneLimits.CLAIM_LIMITED", "a claim: the next claim takes a skipped run",
            "RunRepository.CLAIM_RUN", "a claim: the caller tries again, or another process takes the run",
            "LaneLimits.CLAIM_LIMITED_RUN", "a claim: the caller tries again, or another process takes the run",
            "GateRepository.MARK_ARRIVED", "a mark: the next poll marks a skipped run a second later",
            "GateRepository.PASS", "a gate with a skipped run is reported busy and promoted again",
            "RateGates.PASS", "a gate with a skipped run is reported busy and promoted again",
            "NodeRepository.UNPARK", "the next heartbeat finds a skipped run",
            "NodeRepository.UNPARK_ALL", "the next heartbeat finds a skipped run");

    @Test
    void no_statement_writes_by_ctid_a_row_that_it_locked() {
        Set<String> found = new TreeSet<>();
        statements().forEach((name, text) -> {
            if (LOCKS.matcher(text).find() && WRITES_BY_CTID.matcher(text).find()) found.add(name);
        });

        assertThat(found).as("statements that lock and write by ctid").isEqualTo(new TreeSet<>(ALLOWED.keySet()));
    }

    @Test
    void the_columns_of_new_ended_and_dead_runs_are_listed_in_one_place_each() {
        Map<String, String> first = Map.of(
                "run",
                        "project, queue, priority, target, target_name, codec, payload, headers, policy, id, origin,"
                                + " due_at, ready_at, day",
                "run_history",
                        "project, id, queue, priority, node_deaths, crashes, attempt, failures, due_at, planned_at,"
                                + " created_at",
                "dead_run",
                        "project, id, queue, priority, attempt, failures, crashes, owner, due_at, planned_at,"
                                + " schedule_id");
        Set<String> others = new TreeSet<>();
        Statements.all()
                .forEach((name, text) -> INSERTS.matcher(text).results().forEach(insert -> {
                    String columns = insert.group(2).replaceAll("\\s+", " ");
                    if (!columns.startsWith(first.get(insert.group(1)))) others.add(name + ": " + columns);
                }));

        assertThat(others)
                .as("inserts that do not come from RunInsert or HistoryInsert")
                .isEmpty();
    }

    /**
     * The tests of races and lost answers find the writing statements by their texts, which do not show what a function
     * writes.
     */
    @Test
    void a_statement_that_calls_a_writing_function_names_the_tables_in_a_comment() {
        Map<String, Set<String>> writing = writingFunctions();
        Set<String> called = new TreeSet<>();
        Map<String, Set<String>> missing = new TreeMap<>();
        Statements.all()
                .forEach((name, text) -> writing.forEach((function, writes) -> {
                    if (!calls(text, function)) return;
                    called.add(function);
                    Set<String> unnamed = new TreeSet<>(writes);
                    unnamed.removeAll(writes(text));
                    if (!unnamed.isEmpty()) missing.put(name + " calls " + function, unnamed);
                }));

        assertThat(missing).as("writes that the statement does not name").isEmpty();
        assertThat(called).as("writing functions that a statement calls").isEqualTo(writing.keySet());
        assertThat(writing).as("functions that write").hasSizeGreaterThan(5);
    }

    /** Returns the functions that write, also through a function that they call, and what they write. */
    private static Map<String, Set<String>> writingFunctions() {
        Map<String, String> bodies = new HashMap<>();
        try (TestDatabase database = TestDatabase.migrated()) {
            for (String oid : database.query("""
                    SELECT oid FROM pg_proc WHERE pronamespace = 'carillon'::regnamespace AND prokind IN ('f', 'p')
                    """).texts()) {
                String name = database.query("SELECT proname FROM pg_proc WHERE oid = ?::oid", oid)
                        .text();
                String body =
                        database.query("SELECT pg_get_functiondef(?::oid)", oid).text();
                bodies.merge(name, LINE_COMMENT.matcher(body).replaceAll(""), String::concat);
            }
        }
        Map<String, Set<String>> writing = new TreeMap<>();
        bodies.forEach((name, body) -> writing.put(name, writes(body)));
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Map.Entry<String, String> caller : bodies.entrySet())
                for (String other : bodies.keySet())
                    if (calls(caller.getValue(), other))
                        changed |= writing.get(caller.getKey()).addAll(writing.get(other));
        }
        writing.values().removeIf(Set::isEmpty);
        return writing;
    }

    private static boolean calls(String text, String function) {
        return Pattern.compile("\\bcarillon\\." + function + "\\b")
                .matcher(text)
                .find();
    }

    /** Returns each kind of write with its table, such as {@code UPDATE carillon.run}. */
    private static Set<String> writes(String text) {
        Set<String> writes = new TreeSet<>();
        WRITES.matcher(text)
                .results()
                .forEach(write -> writes.add(write.group(1).replaceAll("\\s+", " ") + " " + write.group(2)));
        return writes;
    }

    /** Returns the constants by name, and each statement of a function by the name of the function and its position. */
    private static Map<String, String> statements() {
        Map<String, String> all = new TreeMap<>(Statements.all());
        try (TestDatabase database = TestDatabase.migrated()) {
            for (String name : database.query("""
                    SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'carillon'::regnamespace ORDER BY 1
                    """).texts()) {
                String body = database.query("SELECT prosrc FROM pg_proc WHERE oid = ?::regprocedure", name)
                        .text();
                int number = 0;
                for (String statement : body.split(";", -1)) all.put(name + " " + ++number, statement);
            }
        }
        return all;
    }
}
