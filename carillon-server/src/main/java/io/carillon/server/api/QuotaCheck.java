package io.carillon.server.api;

import io.carillon.internal.postgres.reads.ServerReads;
import io.carillon.server.http.Problem;
import io.carillon.server.store.ProjectRepository;
import java.sql.SQLException;

/**
 * Checks the numbers of schedules and live runs of a project in the transaction that adds to them. Two concurrent
 * transactions may exceed the limit together.
 */
final class QuotaCheck {
    private final ProjectRepository projects;
    private final ProjectRepository.Quota defaults;

    QuotaCheck(ProjectRepository projects, ProjectRepository.Quota defaults) {
        this.projects = projects;
        this.defaults = defaults;
    }

    private ProjectRepository.Quota quotaOf(RequestExecutor.RequestTransaction transaction) throws SQLException {
        return projects.quota(transaction.session(), transaction.project().name())
                .orElse(defaults);
    }

    /** Throws a problem with status 429 if the project has too many schedules, including the one just created. */
    void checkSchedules(RequestExecutor.RequestTransaction transaction) throws SQLException {
        Integer own = quotaOf(transaction).maxSchedules();
        Integer most = own == null ? defaults.maxSchedules() : own;
        if (most != null
                && ServerReads.countSchedules(
                                transaction.session(), transaction.project().name(), most + 1L)
                        > most) throw exceeded("%d schedules".formatted(most));
    }

    /** Throws a problem with status 429 if {@code more} further runs exceed the quota. */
    void checkRuns(RequestExecutor.RequestTransaction transaction, int more) throws SQLException {
        Long own = quotaOf(transaction).maxWaiting();
        Long most = own == null ? defaults.maxWaiting() : own;
        if (most != null
                && ServerReads.countLiveRuns(
                                        transaction.session(),
                                        transaction.project().name(),
                                        most + 1)
                                + more
                        > most) throw exceeded("%d waiting and running runs".formatted(most));
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
