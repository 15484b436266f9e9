package io.carillon.it.statement;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Explains a statement of the store with its generic plan: the plan that PostgreSQL uses after a few executions of a
 * prepared statement, when it ignores the parameter values.
 */
final class GenericPlan {
    private static final Pattern PARAMETER = Pattern.compile("(?<![:\\w]):([a-zA-Z][a-zA-Z0-9]*)");

    private static final Pattern BUFFERS = Pattern.compile("Buffers: shared(?: hit=(\\d+))?(?: read=(\\d+))?");

    private static final Pattern TOTAL = Pattern.compile("cost=[0-9.]+\\.\\.([0-9.]+) ");

    /**
     * The SQL type and a sample value of each parameter. A parameter name has one type in all statements, except where
     * the name is prefixed with a class.
     */
    private static final Map<String, String> VALUES = values("""
            expression text '10 seconds' | next timestamptz 'infinity' | version bigint 1
            cursor timestamptz '2026-03-02' | backlog bigint 0
            deliveries text[] '{null}' | resultCodecs text[] '{json}' | keepPayloads bool[] '{t}'
            outcomes text[] '{failed}' | errors text[] '{oops}'
            failed bool[] '{t}' | started bool[] '{t}' | tokenHashes text[] '{x}' | leaseSeconds float8[] '{5}'
            wait boolean true | due timestamptz '2026-03-02'
            afterTzdata text '' | afterId uuid '00000000-0000-0000-0000-000000000000'
            tzdata text '2026a' | unreadable uuid[] '{}' | promoter uuid '00000000-0000-7000-8000-000000000001'
            since timestamptz '-infinity' | renew float8 60 | ahead float8 120 | attempts int[] '{1}' | busy bigint 1
            priorities smallint[] '{1}' | codecs text[] '{failed}' | counts int[] '{250}'
            cursors timestamptz[] '{2026-03-02}' | dead uuid[] '{00000000-0000-7000-8000-000000000009}'
            gapCounts bigint[] '{}'
            gapFirsts int[] '{1}' | gapFroms timestamptz[] '{}' | gapLasts int[] '{0}' | gapReasons text[] '{}'
            gapStates text[] '{}'
            gapTos timestamptz[] '{}' | id uuid '00000000-0000-7000-8000-000000000001'
            ids uuid[] '{00000000-0000-7000-8000-000000000009}'
            keys text[] '{k10}' | lateDue timestamptz[] '{}' | lateFirsts int[] '{1}' | lateIds uuid[] '{}'
            lateCtids tid[] '{}' | lateLasts int[] '{0}' | lateReasons text[] '{}' | lateStartBy timestamptz[] '{}'
            lateMayStart bool[] '{}'
            lease float8 null | claimNumber bigint 1 | soleProject text null | code bigint 26
            claimNumbers bigint[] '{1}' | startedAts timestamptz[] '{2026-03-02}' | parkedReasons text[] '{isolated}'
            nodeDeaths int[] '{1}' | crashes int[] '{0}' | name text 'fifo:a' | notifyNodes boolean true
            gates text[] '{fifo:a}' | gateLimits int[] '{1}' | reasons text[] '{why}'
            payloads bytea[] '{}' | origins text[] '{direct}' | schedules uuid[] '{}' | instants timestamptz[] '{}'
            delays float8[] '{0}'
            RunRows.before uuid 'ffffffff-ffff-ffff-ffff-ffffffffffff' | RunRows.queue text null
            RunRows.handler text null | RunRows.schedule uuid null
            RunRows.state text null | RunRows.limit bigint 51 | readTo uuid '00000000-0000-0000-0000-000000000000'
            notQueue text null | notHandler text null | notState text null | RunRows.from timestamptz null
            RunRows.to timestamptz null | RunRows.error text null | RunRows.payload text null | reads bigint 1000
            limit bigint 500 | cutoff timestamptz '2026-03-02' | logs text[] '{log}' | readyFrom timestamptz '-infinity'
            readyFroms timestamptz[] '{-infinity}' | names text[] '{overlap:00000000-0000-7000-8000-000000000009}'
            RateGates.names text[] '{rate:1000:a}' | nextInstants timestamptz[] '{infinity}'
            oldCursors timestamptz[] '{2026-03-02}'
            owner uuid '00000000-0000-7000-8000-000000000001'
            owners uuid[] '{00000000-0000-7000-8000-000000000001}' | alones bool[] '{t}' | retryDelays float8[] '{5}'
            ctids tid[] '{"(0,1)"}' | project text 'default' | projects text[] '{default}' | queues text[] '{mail}'
            handlers text[] '{mail.send}' | ages float8[] '{1}' | reason text 'why'
            queue text 'mail' | priority smallint 1 | handler text 'mail.send' | steps int 10
            capacities int[] '{5}' | shares int[] '{8}' | results bytea[] '{}' | state text 'skipped'
            workflow boolean false
            unknownHandlers text[] '{}' | targets text[] '{mail.send}' | texts text[] '{oops}'
            target text 'handler' | codec text 'json' | payload bytea '' | headers text null
            parents uuid[] '{null}' | parent uuid null | maxUnread bigint 1000 | maxBytesBefore bigint 1000000
            headerTexts text[] '{null}' | policies text[] '{null}' | policy text null
            origin text 'direct' | key text null | schedule uuid null
            instant timestamptz null | delay float8 0 | windows float8[] '{60}' | attempt int 1
            availableStarts float8[] '{1}' | now timestamptz '2026-03-02'
            node uuid '00000000-0000-7000-8000-000000000001' | succeededCounts int[] '{1}' | failedCounts int[] '{0}'
            afterOpening bool[] '{t}'
            allRequests boolean true | runIds uuid[] '{}' | done bigint[] '{1}' | totals bigint[] '{2}'
            tickDue timestamptz[] '{2026-03-02}' | tickFirsts int[] '{1}'
            tickIds uuid[] '{00000000-0000-7000-8000-000000000008}'
            tickLasts int[] '{1}' | tickPlanned timestamptz[] '{2026-03-02}'
            tickStartBy timestamptz[] '{2026-03-03}' | tickMayStartLate bool[] '{null}' | versions bigint[] '{1}'
            replays bigint[] '{0}' | snapshots bigint[] '{1}' | seqs bigint[] '{9223372036854775807}'
            firsts int[] '{1}' | lasts int[] '{1}' | toSnapshot bigint 2 | toSeq bigint 9223372036854775807
            days date[] '{2026-03-02}'
            runs uuid[] '{00000000-0000-7000-8000-000000000008}' | topic text 'orders' | expected bigint null
            events uuid[] '{00000000-0000-7000-8000-000000000009}' | topics text[] '{orders}'
            position int 0 | path text 'charge' | value bytea '' | sleep float8 null | error text null
            kind text 'step' | run uuid '00000000-0000-7000-8000-000000000008' | sendId text 'mail-77'
            signal text 'approval' | awaitedRun uuid '00000000-0000-7000-8000-000000000009'
            waiting uuid[] '{00000000-0000-7000-8000-000000000008}' | onFailures text[] '{cancel}'
            awaited uuid[] '{00000000-0000-7000-8000-000000000009}'
            WorkflowStepRepository.positions int[] '{0}' | paths text[] '{charge}'
            keepSteps boolean true | reserved int null
            kinds text[] '{step}' | workflows text[] '{}'
            seq bigint 9223372036854775807 | snapshot bigint 0 | separated text[] '{}'
            EventDispatchRepository.events uuid[] '{00000000-0000-7000-8000-000000000009}'
            firstRun text '00000000-0000-7000-8000-000000000009' | token text 'planning' | epoch bigint 1
            publishIds text[] '{p}'
            maxCopied bigint 2048 | types text[] '{order.placed}' | datas bytea[] '{}'
            sent bigint 1 | fromSnapshot bigint 1 | fromSeq bigint 1
            blocks bool[] '{t}' | duration float8 5 | from bigint 1 | to bigint 2 | part text 'a-0'
            positions bigint[] '{1}' | SourceRepository.keys bytea[] '{}' | values bytea[] '{}'
            """);

    private GenericPlan() {}

    private static Map<String, String> values(String table) {
        Map<String, String> values = new java.util.HashMap<>();
        for (String line : table.split("[|\n]", -1)) {
            String[] cells = line.strip().split(" ", 2);
            if (cells.length == 2) values.put(cells[0], cells[1]);
        }
        return values;
    }

    /**
     * Returns the lines of the plan and changes nothing. If {@code analyze} is set, the statement is executed once and
     * rolled back, and the plan shows times and buffers.
     */
    static List<String> of(Connection connection, String name, boolean analyze) throws SQLException {
        String options = analyze ? "ANALYZE, BUFFERS" : "COSTS OFF";
        return prepared(
                connection,
                name,
                "force_generic_plan",
                (statement, execute) -> lines(statement, "EXPLAIN (" + options + ") " + execute));
    }

    /**
     * Returns the number of pages that the statement reads from cache or disk. The statement runs twice because the
     * first execution also reads catalog pages for the planner.
     */
    static int pages(Connection connection, String name) throws SQLException {
        of(connection, name, true);
        return pages(name, of(connection, name, true));
    }

    /** Returns the number of pages that a query without parameters reads, for example a call of a function. */
    static int pagesOfQuery(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return pages(sql, lines(statement, "EXPLAIN (ANALYZE, BUFFERS) " + sql));
        }
    }

    private static int pages(String name, List<String> plan) {
        Matcher buffers = BUFFERS.matcher(String.join("\n", plan));
        if (!buffers.find()) throw new AssertionError("No buffers in plan: " + plan);
        int pages = number(buffers.group(1)) + number(buffers.group(2));
        System.out.printf("pages read by %s: %,d%n", name, pages);
        return pages;
    }

    private static int number(String text) {
        return text == null ? 0 : Integer.parseInt(text);
    }

    /** Returns the planner's total cost estimate in the given plan cache mode, without executing the statement. */
    static double cost(Connection connection, String name, String mode) throws SQLException {
        List<String> lines =
                prepared(connection, name, mode, (statement, execute) -> lines(statement, "EXPLAIN " + execute));
        Matcher total = TOTAL.matcher(lines.get(0));
        if (!total.find()) throw new AssertionError("No cost in plan: " + lines.get(0));
        return Double.parseDouble(total.group(1));
    }

    /**
     * Returns whether PostgreSQL chooses the generic plan in plan cache mode {@code auto}. All executions
     * are rolled back.
     */
    static boolean isCached(Connection connection, String name) throws SQLException {
        return prepared(connection, name, "auto", (statement, execute) -> {
            for (int i = 0; i < 10; i++) statement.execute(execute);
            return lines(statement, "SELECT generic_plans > 0 FROM pg_prepared_statements WHERE name = 'explained'")
                    .equals(List.of("t"));
        });
    }

    private interface Question<T> {
        T ask(Statement statement, String execute) throws SQLException;
    }

    private static <T> T prepared(Connection connection, String name, String mode, Question<T> question)
            throws SQLException {
        List<String> names = new ArrayList<>();
        Matcher parameter = PARAMETER.matcher(Statements.text(name));
        String text = parameter.replaceAll(found -> {
            if (!names.contains(found.group(1))) names.add(found.group(1));
            return "\\$" + (names.indexOf(found.group(1)) + 1);
        });
        String types =
                String.join(", ", names.stream().map(one -> cell(name, one, 0)).toList());
        String values =
                String.join(", ", names.stream().map(one -> cell(name, one, 1)).toList());
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCAL plan_cache_mode = " + mode);
            statement.execute("PREPARE explained" + (names.isEmpty() ? "" : " (" + types + ")") + " AS " + text);
            return question.ask(statement, "EXECUTE explained" + (names.isEmpty() ? "" : " (" + values + ")"));
        } finally {
            connection.rollback();
            try (Statement statement = connection.createStatement()) {
                statement.execute("DEALLOCATE ALL");
            }
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    private static String cell(String statement, String parameter, int number) {
        String own = statement.substring(0, statement.indexOf('.') + 1) + parameter;
        String value = VALUES.getOrDefault(own, VALUES.get(parameter));
        if (value == null) throw new AssertionError("No sample value in GenericPlan for parameter :" + parameter);
        return value.split(" ", 2)[number];
    }

    private static List<String> lines(Statement statement, String sql) throws SQLException {
        try (ResultSet rows = statement.executeQuery(sql)) {
            List<String> lines = new ArrayList<>();
            while (rows.next()) lines.add(rows.getString(1));
            return lines;
        }
    }
}
