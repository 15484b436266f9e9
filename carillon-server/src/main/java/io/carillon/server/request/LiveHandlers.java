package io.carillon.server.request;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.NodeInfo;
import io.carillon.run.Target;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The handlers of live nodes, to warn a caller whose runs would wait. They are read again only if a handler is missing,
 * at most once a second, so that requests with known handlers cost nothing. Thread-safe.
 */
public final class LiveHandlers {
    private static final long MIN_AGE_NANOS = Duration.ofSeconds(1).toNanos();

    private record Known(Set<String> names, long nanos) {}

    private final Carillon carillon;
    private volatile Optional<Known> known = Optional.empty();

    public LiveHandlers(Carillon carillon) {
        this.carillon = carillon;
    }

    /** Returns a warning if no live node has the handler of the target; otherwise nothing. */
    public List<String> warnings(Target target) {
        String name = target.name();
        Optional<Known> last = known;
        if (last.isPresent() && last.get().names.contains(name)) return List.of();
        boolean recent = last.isPresent() && System.nanoTime() - last.get().nanos < MIN_AGE_NANOS;
        if (!recent && read().map(names -> names.contains(name)).orElse(true)) return List.of();
        return List.of("no live node has a handler named '%s', so its runs wait until one starts".formatted(name));
    }

    /** Returns the names; empty if they cannot be read, because a warning must not fail a request. */
    private Optional<Set<String>> read() {
        try {
            Set<String> names = carillon.nodes().stream()
                    .filter(NodeInfo::alive)
                    .flatMap(node -> node.handlers().stream())
                    .collect(Collectors.toUnmodifiableSet());
            known = Optional.of(new Known(names, System.nanoTime()));
            return Optional.of(names);
        } catch (CarillonException unreadable) {
            return Optional.empty();
        }
    }
}
