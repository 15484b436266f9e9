package io.carillon.it.engine;

import static io.carillon.it.engine.Faults.When.AFTER;
import static io.carillon.it.engine.Faults.When.BEFORE;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.engine.EngineConfig.Planning;
import io.carillon.it.engine.Faults.Kind;
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
 * Every call an engine makes to its storage fails, in every way, before or after it took effect, while the engine works. When it stops failing, every run
 * has ended once, and no loop has died.
 */
class PortFaultsTest {
    /** Called by users and by ticks on their own threads: what fails there is told to whoever called. */
    private static final Set<String> NOT_BY_LOOPS = Set.of("inbox", "runDesk", "schedules", "projects", "vitals");

    /** Every ten minutes, or after very many runs, at a time nobody can wait for: HousekeeperTest has them. */
    private static final Set<String> RARE = Set.of(
            "housekeeping.dropHistory",
            "housekeeping.dust",
            "housekeeping.keepPartitions",
            "housekeeping.keepRoom",
            "housekeeping.purge",
            "housekeeping.sweepRuns");

    /** Of ports that loops use too: users and ticks call these. */
    private static final Set<String> BY_HAND = Set.of(
            "lanes.limit",
            "lanes.list",
            "lanes.pause",
            "lanes.resume",
            "lanes.weigh",
            "nodes.list",
            "nodes.renew",
            "nodes.wake",
            "plans.unreadable");

    /** Called where rows stay locked for seconds: LockedRunTest has it. */
    private static final Set<String> BEHIND_LOCKS = Set.of("runs.applyUnlocked");

    /** Called only where one node plans for all. */
    private static final Set<String> BY_LEADERS = Set.of("plans.lead", "plans.stepDown");

    @Test
    void every_loop_goes_on_and_nothing_is_lost_or_doubled() throws Exception {
        live(List.of(new Faults(Kind.RUNTIME, BEFORE), new Faults(Kind.RAW_SQL, AFTER)));
    }

    @Test
    @Tag("slow")
    void every_loop_survives_every_kind_of_failure_before_and_after_its_effect() throws Exception {
        List<Faults> all = new ArrayList<>();
        // Each twice in a row, and so once in each way of planning.
        for (Kind kind : Kind.values())
            for (Faults.When when : Faults.When.values())
                all.addAll(List.of(new Faults(kind, when), new Faults(kind, when)));
        live(all);
    }

    /** All at the same time, each on a database of its own: they mostly wait. By turns one node plans for all, or every node does. */
    private static void live(List<Faults> faults) throws Exception {
        List<Callable<Scenario>> all = new ArrayList<>();
        for (int i = 0; i < faults.size(); i++) {
            Faults one = faults.get(i);
            Planning planning = i % 2 == 0 ? Planning.LEADER : Planning.EVERY_NODE;
            all.add(() -> new Scenario(one, loopCalls(planning), planning).live());
        }
        ExecutorService threads = Executors.newFixedThreadPool(all.size());
        try {
            for (Future<Scenario> one : threads.invokeAll(all)) one.get().check();
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void knows_every_call_of_every_port() {
        Set<String> points = FaultyStorage.points();

        assertThat(points)
                .containsAll(RARE)
                .containsAll(BY_HAND)
                .containsAll(BEHIND_LOCKS)
                .contains("runs.claim", "runs.apply", "nodes.beat", "ear.await");
        assertThat(loopCalls(Planning.LEADER)).hasSizeGreaterThan(15).containsAll(BY_LEADERS);
    }

    private static Set<String> loopCalls(Planning planning) {
        Set<String> calls = new TreeSet<>(FaultyStorage.points());
        calls.removeIf(call -> RARE.contains(call)
                || BY_HAND.contains(call)
                || BEHIND_LOCKS.contains(call)
                || (planning != Planning.LEADER && BY_LEADERS.contains(call))
                || NOT_BY_LOOPS.contains(call.substring(0, call.indexOf('.'))));
        return calls;
    }
}
