package io.carillon.it.store;

import io.carillon.it.store.RaceCase.Deed;
import io.carillon.it.store.RaceCase.Skip;
import io.carillon.store.Swept;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;

/** A list of cases, filled by the constructors of its kinds. */
abstract class RaceStatements {
    static final UUID NO_NODE = RaceStage.id(99);

    static final Deed DUE_SWEEP = dueSweep(3);

    private final List<RaceCase> cases = new ArrayList<>();

    final List<RaceCase> all() {
        return List.copyOf(cases);
    }

    final void addAll(List<RaceCase> more) {
        cases.addAll(more);
    }

    /** Its answer is right at once. */
    final void add(String statement, Deed deed, RaceScene... scenes) {
        cases(statement, Skip.NEVER, deed, deed, scenes);
    }

    /** It may leave out a row that another session works on; its caller comes again. */
    final void skipping(Skip skip, String statement, Deed deed, RaceScene... scenes) {
        cases(statement, skip, deed, deed, scenes);
    }

    /** As {@link #skipping}, but the caller comes again in another way. */
    final void skipping(Skip skip, String statement, Deed deed, Deed again, RaceScene... scenes) {
        cases(statement, skip, deed, again, scenes);
    }

    /** It may leave out a row that another session works on, and says nothing of it; what comes {@code later} by itself makes up for it. */
    final void leaving(String statement, Deed deed, Deed later, RaceScene... scenes) {
        cases(statement, Skip.LATER, deed, later, scenes);
    }

    private void cases(String statement, Skip skip, Deed deed, Deed again, RaceScene... scenes) {
        for (RaceScene scene : scenes) cases.add(new RaceCase(statement, scene, skip, deed, again));
    }

    /** As a node does it: if a heartbeat says that a sweep is due. The beat of a node that does not exist writes nothing. */
    static Deed dueSweep(int crashLimit) {
        return (stage, through, hand) ->
                through.nodes().beat(NO_NODE, 0, List.of()).sweepDue()
                        ? through.nodes().sweep(crashLimit)
                        : new Swept(0, 0, 0);
    }

    static Object done(Runnable deed) {
        deed.run();
        return "done";
    }

    static Set<String> texts(Collection<?> some) {
        return some.stream().map(String::valueOf).collect(Collectors.toCollection(TreeSet::new));
    }
}
