package io.carillon.server.api;

import io.carillon.internal.postgres.reads.ServerReads;
import io.carillon.server.http.Problem;
import io.carillon.server.store.BulkRepository;
import io.carillon.server.store.LiveRunEstimates;
import io.carillon.server.store.ProjectRepository;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Checks the quotas of a project in the transaction that adds to its schedules, runs or bulk actions. Two concurrent
 * transactions may exceed a limit together.
 */
final class QuotaCheck {
    private final ProjectRepository projects;
    private final BulkRepository bulkActions;
    private final ProjectRepository.Quota defaults;
    private final LiveRunEstimates liveRuns = new LiveRunEstimates(System::nanoTime);

    QuotaCheck(ServerContext.Repositories repositories, ProjectRepository.Quota defaults) {
        this.projects = repositories.projects();
        this.bulkActions = repositories.bulk();
        this.defaults = defaults;
    }

    private ProjectRepository.Quota quotaOf(RequestExecutor.RequestTransaction transaction) throws SQLException {
        return projects.quota(transaction.session(), transaction.project().name())
                .map(own -> own.orElse(defaults))
                .orElse(defaults);
    }

    /** Throws a problem with status 429 if the project has too many schedules, including the one just created. */
    void checkSchedules(RequestExecutor.RequestTransaction transaction) throws SQLException {
        Integer most = quotaOf(transaction).maxSchedules();
        if (most != null
                && ServerReads.countSchedules(
                                transaction.session(), transaction.project().name(), most + 1L)
                        > most) throw exceeded("%d schedules".formatted(most));
    }

    /** Throws a problem with status 429 if {@code more} further runs exceed the quota. */
    void checkRuns(RequestExecutor.RequestTransaction transaction, int more) throws SQLException {
        Long most = quotaOf(transaction).maxWaiting();
        if (most == null) return;
        String project = transaction.project().name();
        if (!liveRuns.tryAdd(
                project, more, most, () -> ServerReads.countLiveRuns(transaction.session(), project, most + 1)))
            throw exceeded("%d waiting and running runs".formatted(most));
    }

    /** Throws a problem with status 429 if one further bulk action exceeds the quota. */
    void checkBulkActions(RequestExecutor.RequestTransaction transaction) throws SQLException {
        Integer most = quotaOf(transaction).maxBulkActions();
        if (most != null
                && bulkActions.countRunning(
                                transaction.session(), transaction.project().name(), most)
                        >= most) throw exceeded("%d running bulk actions".formatted(most));
    }

    /** Returns the maximum number of event streams of the project on this node; null if there is none. */
    @Nullable
    Integer maxStreams(RequestExecutor.RequestTransaction transaction) throws SQLException {
        return quotaOf(transaction).maxStreams();
    }

    static Problem tooManyStreams(int most) {
        return exceeded("%d event streams on each node".formatted(most));
    }

    private static Problem exceeded(String what) {
        return Problem.of(
                        429,
                        "quota-exceeded",
                        "The project may have at most %s. Remove some, wait until some end, or ask for a larger quota."
                                .formatted(what))
                .withHeader("Retry-After", "60");
    }
}
