package io.carillon.internal.engine.relay;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.spi.EventSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Reads one source. Its thread opens the reader, and opens another one after a failure. */
final class SourceLoop implements Loop.Task {
    private static final Duration POLL = Duration.ofMillis(500);

    private final String project;
    private final EventSource source;
    private final EventSource.Positions positions;
    private final Loop loop;
    private EventSource.@Nullable Reader reader;

    SourceLoop(String project, EventSource source, EventSource.Positions positions) {
        this.project = project;
        this.source = source;
        this.positions = positions;
        this.loop = new Loop("source-" + source.name(), true, this);
    }

    Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws Exception {
        EventSource.Reader open = reader;
        if (open == null) {
            open = source.open(project, positions);
            reader = open;
        }
        open.poll(POLL);
    }

    @Override
    public void onFailure(Throwable failure) {
        closeReader();
    }

    @Override
    public void onEnd() {
        closeReader();
    }

    private void closeReader() {
        EventSource.Reader open = reader;
        reader = null;
        if (open != null) open.close();
    }
}
