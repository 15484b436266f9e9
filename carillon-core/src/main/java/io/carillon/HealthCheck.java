package io.carillon;

import io.carillon.engine.Engine;
import io.carillon.engine.EngineStatus;
import io.carillon.store.Look;
import io.carillon.store.NodeView;
import io.carillon.store.Storage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Asks the loops and the database what is wrong. */
final class HealthCheck {
    private static final Duration SKEW = Duration.ofMinutes(1);
    private static final Duration SILENT = Duration.ofMinutes(1);

    private HealthCheck() {}

    static Health check(Storage storage, @Nullable Engine engine) {
        List<String> issues = new ArrayList<>();
        if (engine != null) engine(engine.status(), issues);
        try {
            Look look = storage.lanes().look(Instant.MIN);
            nodes(storage.nodes().list().stream().filter(NodeView::alive).toList(), look.now(), issues);
            look.broken()
                    .forEach(lane -> issues.add(
                            "the breaker of queue '%s' of project '%s' is open, because most attempts failed: it lets one try now and then"
                                    .formatted(lane.queue(), lane.project())));
            storage.runDesk()
                    .strangers()
                    .forEach((handler, count) -> issues.add(
                            "%d runs wait for a handler named '%s', which no living node has: deploy it, or cancel them"
                                    .formatted(count, handler)));
        } catch (RuntimeException unreachable) {
            issues.add("the database does not answer: " + unreachable.getMessage());
        }
        return new Health(issues.isEmpty(), issues);
    }

    /** A node that died alone has nobody who declares it dead: its row says that it lives. */
    private static void nodes(List<NodeView> living, Instant now, List<String> issues) {
        List<NodeView> silent = living.stream()
                .filter(node -> node.beatAt().plus(SILENT).isBefore(now))
                .toList();
        silent.forEach(node -> issues.add(
                "node '%s' on %s has not beaten for %d s: its runs are rescued as soon as another node watches it"
                        .formatted(
                                node.info().name(),
                                node.info().host(),
                                Duration.between(node.beatAt(), now).toSeconds())));
        if (silent.size() == living.size()) issues.add("no node is alive: nothing is executed until one starts");
    }

    private static void engine(EngineStatus status, List<String> issues) {
        status.loops().forEach((name, loop) -> {
            if (!loop.alive()) issues.add("the loop '" + name + "' has ended: restart this process");
            else if (loop.failing()) issues.add("the loop '" + name + "' fails again and again: see the log");
        });
        if (!status.listening())
            issues.add("LISTEN is not proven: new work is found by polling only (is a transaction pooler between?)");
        if (status.skew().abs().compareTo(SKEW) > 0)
            issues.add("this machine's clock is off the database's by %s: harmless to us, but logs will disagree"
                    .formatted(status.skew()));
    }
}
