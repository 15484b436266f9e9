package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Session;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Pages of runs, with the position after which the next one begins. Only ids have an index, so a page with filters
 * reads a limited number of runs. A page may then be short, and even empty, although there are more runs to read.
 */
final class RunSearch {
    /** How many waiting and running runs, and ended runs, a page reads: first few, because most pages find enough. */
    private static final List<Integer> READS = List.of(2_000, 50_000);

    /** How many of those that match otherwise are searched for a text in an error or a payload. */
    private static final int MAX_SEARCHED = 1_000;

    private RunSearch() {}

    static RunQuery.Page page(Session session, String project, RunQuery query) throws SQLException {
        if (!isFiltered(query)) return page(session, project, query, (UUID) null);
        RunQuery.Page page = new RunQuery.Page(List.of(), null);
        for (int reads : READS) {
            page = page(session, project, query, readTo(session, project, query, reads));
            if (page.next() == null || page.runs().size() == query.filter().limit()) break;
        }
        return page;
    }

    /** Reads a page that ends at a run; null if it may read all that follow. */
    private static RunQuery.Page page(Session session, String project, RunQuery query, @Nullable UUID readTo)
            throws SQLException {
        int limit = query.filter().limit();
        // One more, to know whether there is a next page.
        List<Run> found = RunRows.page(session, project, query, new RunRows.PageEnd(readTo, limit + 1));
        if (found.size() > limit)
            return new RunQuery.Page(
                    found.subList(0, limit), found.get(limit - 1).id());
        return new RunQuery.Page(found, readTo == null ? null : new RunId(readTo));
    }

    private static boolean isFiltered(RunQuery query) {
        RunFilter filter = query.filter();
        return hasText(query)
                || query.workflow()
                || Stream.of(
                                filter.queue(),
                                filter.handler(),
                                filter.state(),
                                query.notQueue(),
                                query.notHandler(),
                                query.notState(),
                                query.schedule())
                        .anyMatch(Objects::nonNull);
    }

    private static boolean hasText(RunQuery query) {
        return query.error() != null || query.payload() != null;
    }

    /** Returns the oldest run that the page may read; null if it may read all that follow. */
    private static @Nullable UUID readTo(Session session, String project, RunQuery query, int reads)
            throws SQLException {
        UUID readTo = latest(
                RunRows.readToLive(session, project, query, reads),
                RunRows.readToEnded(session, project, query, reads));
        if (!hasText(query)) return readTo;
        UUID searchedTo = latest(
                RunRows.matchingToLive(session, project, query, new RunRows.PageEnd(readTo, MAX_SEARCHED)),
                RunRows.matchingToEnded(session, project, query, new RunRows.PageEnd(readTo, MAX_SEARCHED)));
        return searchedTo == null ? readTo : searchedTo;
    }

    private static @Nullable UUID latest(Optional<UUID> live, Optional<UUID> ended) {
        return Stream.of(live, ended)
                .flatMap(Optional::stream)
                .max(RunRows.BY_BYTES)
                .orElse(null);
    }
}
