package io.carillon.it.race;

import io.carillon.internal.store.node.RescueResult;
import io.carillon.it.race.RaceCase.Skip;
import io.carillon.it.race.RaceCase.StatementCall;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;

/** A list of race cases, filled by the constructors of its subclasses. */
abstract class RaceCaseList {
    static final UUID NO_NODE = RaceFixture.id(99);

    static final StatementCall DUE_RESCUE = dueRescue(3);

    private final List<RaceCase> cases = new ArrayList<>();

    final List<RaceCase> all() {
        return List.copyOf(cases);
    }

    final void addAll(List<RaceCase> more) {
        cases.addAll(more);
    }

    /** Adds a statement whose first answer must be complete. */
    final void add(String statement, StatementCall call, RaceSetup... setups) {
        cases(statement, Skip.NEVER, call, call, setups);
    }

    /** Adds a statement that may skip a row that another session has locked; its caller repeats the same call. */
    final void skipping(Skip skip, String statement, StatementCall call, RaceSetup... setups) {
        cases(statement, skip, call, call, setups);
    }

    /** Like {@link #skipping(Skip, String, StatementCall, RaceSetup...)}, but the caller repeats with another call. */
    final void skipping(Skip skip, String statement, StatementCall call, StatementCall again, RaceSetup... setups) {
        cases(statement, skip, call, again, setups);
    }

    /**
     * Adds a statement that may skip a row that another session has locked without reporting it; the call
     * {@code later}, which the engine makes anyway, does the rest.
     */
    final void skippingSilently(String statement, StatementCall call, StatementCall later, RaceSetup... setups) {
        cases(statement, Skip.LATER, call, later, setups);
    }

    private void cases(String statement, Skip skip, StatementCall call, StatementCall again, RaceSetup... setups) {
        for (RaceSetup setup : setups) cases.add(new RaceCase(statement, setup, skip, call, again));
    }

    /**
     * Rescues as a node does: if a heartbeat reports that a rescue is due. The heartbeat of an unregistered
     * node writes nothing.
     */
    static StatementCall dueRescue(int crashLimit) {
        return (fixture, through, sender) ->
                through.nodes().recordHeartbeat(NO_NODE, 0, List.of()).rescueDue()
                        ? through.nodes().rescue(crashLimit)
                        : new RescueResult(0, 0, 0);
    }

    static Object done(Runnable call) {
        call.run();
        return "done";
    }

    static Set<String> texts(Collection<?> some) {
        return some.stream().map(String::valueOf).collect(Collectors.toCollection(TreeSet::new));
    }
}
