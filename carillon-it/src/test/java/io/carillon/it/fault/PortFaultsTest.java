package io.carillon.it.fault;

import static io.carillon.it.fault.PortFaults.When.AFTER;
import static io.carillon.it.fault.PortFaults.When.BEFORE;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.NodeConfig.Planning;
import io.carillon.it.fault.PortFaults.Kind;
import io.carillon.it.fixture.FaultyStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every call of an engine to its storage fails with every kind of error, before or after the call takes effect, while
 * the engine executes runs. After the faults stop, every run has ended once, and no loop has died.
 */
class PortFaultsTest {
    /**
     * Ports that users and {@code runDue} call on their own threads: the caller gets the error. The writer of
     * statistics belongs to the process and not to the engine; StatsRecorderTest covers its failures. This
     * engine has no relays and sources; RelayCrashTest covers those.
     */
    private static final Set<String> NOT_CALLED_BY_LOOPS = Set.of(
            "newRuns",
            "runAdmin",
            "schedules",
            "projects",
            "vitals",
            "stats",
            "events",
            "relays",
            "sources",
            "workflowSteps");

    /**
     * Called every ten minutes or after very many runs, too rarely for this test. MaintenanceTest covers these calls.
     */
    private static final Set<String> RARELY_CALLED = Set.of(
            "maintenance.dropHistory",
            "maintenance.dropEvents",
            "maintenance.tableStats",
            "maintenance.ensurePartitions",
            "maintenance.reservePages",
            "maintenance.summarizeHistory",
            "maintenance.purge",
            "maintenance.maintainStats",
            "maintenance.vacuumRuns");

    /**
     * Calls by users and {@code runDue} to ports that loops use too. LeaseRenewalTest covers {@code renewLeases}, which
     * a helper thread of {@code runDue} repeats.
     */
    private static final Set<String> CALLED_BY_USERS = Set.of(
            "lanes.find",
            "lanes.limit",
            "lanes.list",
            "lanes.pause",
            "lanes.resume",
            "lanes.setBreaker",
            "lanes.setWeight",
            "nodes.list",
            "nodes.renewLeases",
            "nodes.wakeParkedRuns",
            "plans.unreadable",
            "workflowSignals.find",
            "workflowSignals.send");

    /** Called when rows stay locked for seconds. LockedRunTest covers this call. */
    private static final Set<String> CALLED_ON_LOCKED_ROWS = Set.of("runs.applyUnlocked");

    /** Called only if one node plans for the cluster. */
    private static final Set<String> CALLED_BY_LEADERS =
            Set.of("plans.acquireToken", "plans.releaseToken", "plans.acquireClaimToken", "plans.releaseClaimToken");

    @Test
    void every_loop_continues_and_no_run_is_lost_or_duplicated() throws Exception {
        runScenarios(List.of(new PortFaults(Kind.RUNTIME, BEFORE), new PortFaults(Kind.RAW_SQL, AFTER)));
    }

    @Test
    @Tag("slow")
    void every_loop_survives_every_kind_of_failure_before_and_after_a_call_takes_effect() throws Exception {
        List<PortFaults> all = new ArrayList<>();
        // Each fault twice in a row, so that it runs once with each kind of planning.
        for (Kind kind : Kind.values())
            for (PortFaults.When when : PortFaults.When.values())
                all.addAll(List.of(new PortFaults(kind, when), new PortFaults(kind, when)));
        runScenarios(all);
    }

    /**
     * Runs all scenarios at the same time, each on its own database, because they mostly wait. They alternate between
     * planning by a leader and planning by every node.
     */
    private static void runScenarios(List<PortFaults> faults) throws Exception {
        List<Callable<FaultScenario>> all = new ArrayList<>();
        for (int i = 0; i < faults.size(); i++) {
            PortFaults one = faults.get(i);
            Planning planning = i % 2 == 0 ? Planning.LEADER : Planning.EVERY_NODE;
            all.add(() -> new FaultScenario(one, loopCalls(planning), planning).run());
        }
        ExecutorService threads = Executors.newFixedThreadPool(all.size());
        try {
            for (Future<FaultScenario> one : threads.invokeAll(all)) one.get().check();
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void the_lists_name_existing_calls_of_the_ports() {
        Set<String> points = FaultyStorage.points();

        assertThat(points)
                .containsAll(RARELY_CALLED)
                .containsAll(CALLED_BY_USERS)
                .containsAll(CALLED_ON_LOCKED_ROWS)
                .contains("runs.claim", "runs.apply", "nodes.recordHeartbeat", "subscription.await");
        assertThat(loopCalls(Planning.LEADER)).hasSizeGreaterThan(15).containsAll(CALLED_BY_LEADERS);
    }

    private static Set<String> loopCalls(Planning planning) {
        Set<String> calls = new TreeSet<>(FaultyStorage.points());
        calls.removeIf(call -> RARELY_CALLED.contains(call)
                || CALLED_BY_USERS.contains(call)
                || CALLED_ON_LOCKED_ROWS.contains(call)
                || (planning != Planning.LEADER && CALLED_BY_LEADERS.contains(call))
                || NOT_CALLED_BY_LOOPS.contains(call.substring(0, call.indexOf('.'))));
        return calls;
    }
}
