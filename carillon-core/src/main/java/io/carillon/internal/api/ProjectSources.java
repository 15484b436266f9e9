package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.event.EventSources;
import io.carillon.event.NewEvent;
import io.carillon.event.SourcePartition;
import io.carillon.internal.store.event.SourceStore;
import io.carillon.internal.value.TextCleaner;
import io.carillon.spi.EventSource;
import java.util.List;
import java.util.OptionalLong;

/** The sources of one project. */
public final class ProjectSources implements EventSources {
    private static final int MAX_REASON = 2_000;

    private final String project;
    private final SourceStore store;

    ProjectSources(String project, SourceStore store) {
        this.project = project;
        this.store = store;
    }

    @Override
    public List<SourcePartition> list() {
        return store.list(project);
    }

    @Override
    public List<SourcePartition.UnpublishedRecord> unpublished(String source, int limit) {
        return store.unpublished(project, source, ProjectRelays.checkLimit(limit));
    }

    @Override
    public boolean removeUnpublished(String source, String partition, long position) {
        return store.removeUnpublished(new SourceStore.Partition(project, source, partition), position);
    }

    @Override
    public boolean skip(String source, String partition, long position) {
        return store.skip(new SourceStore.Partition(project, source, partition), position);
    }

    @Override
    public boolean remove(String source) {
        return store.remove(project, source);
    }

    /** The positions of one source. */
    public static final class StoredPositions implements EventSource.Positions {
        private final RunFactory runFactory;
        private final String source;
        private final SourceStore store;
        private final Runnable published;

        /** {@code published} runs after events were stored. */
        public StoredPositions(RunFactory runFactory, String source, SourceStore store, Runnable published) {
            this.runFactory = runFactory;
            this.source = source;
            this.store = store;
            this.published = published;
        }

        private SourceStore.Partition partition(String part) {
            return new SourceStore.Partition(runFactory.project(), source, part);
        }

        @Override
        public OptionalLong next(String partition) {
            return store.next(partition(partition));
        }

        @Override
        public void add(String partition, long next) {
            store.add(partition(partition), next);
        }

        @Override
        public boolean store(EventSource.Batch batch) {
            boolean stored = store.store(new SourceStore.Batch(
                    partition(batch.partition()),
                    batch.from(),
                    batch.to(),
                    batch.events().stream()
                            .map(event -> ProjectEvents.encode(runFactory, withoutVersion(event)))
                            .toList(),
                    batch.unpublished().stream()
                            .map(unpublished -> new EventSource.UnpublishedRecord(
                                    unpublished.position(),
                                    unpublished.key(),
                                    unpublished.value(),
                                    TextCleaner.clean(unpublished.reason(), MAX_REASON)))
                            .toList()));
            if (stored && !batch.events().isEmpty()) published.run();
            return stored;
        }

        private static NewEvent<?> withoutVersion(NewEvent<?> event) {
            if (event.expectedVersion().isPresent())
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "Events of a source cannot have an expectedVersion, because nothing reads the conflict.");
            return event;
        }

        @Override
        public void block(String partition, long position, String reason) {
            store.block(partition(partition), position, TextCleaner.clean(reason, MAX_REASON));
        }
    }
}
