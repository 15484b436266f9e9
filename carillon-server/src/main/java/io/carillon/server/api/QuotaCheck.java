package io.carillon.server.api;

import io.carillon.event.EventPattern;
import io.carillon.event.NewEvent;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.reads.EventReads;
import io.carillon.internal.postgres.reads.QueueReads;
import io.carillon.internal.postgres.reads.ServerReads;
import io.carillon.run.Payload;
import io.carillon.run.Run;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.server.event.EventTarget;
import io.carillon.server.http.Problem;
import io.carillon.server.store.BulkRepository;
import io.carillon.server.store.EndpointRepository;
import io.carillon.server.store.LiveRunEstimates;
import io.carillon.server.store.ProjectRepository;
import io.carillon.server.store.SubscriptionPatterns;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks the quotas of a project in the transaction that adds to its schedules, endpoints, subscriptions, runs or bulk
 * actions. Two concurrent transactions may exceed a limit together.
 */
public final class QuotaCheck {
    /** Enough for as many endpoints as a project may have by default, and as many other queues. */
    static final int MAX_QUEUES_WITH_SETTINGS = 2_000;

    private final ProjectRepository projects;
    private final BulkRepository bulkActions;
    private final ProjectRepository.Quota defaults;
    private final SubscriptionPatterns subscriptions = new SubscriptionPatterns();
    private final LiveRunEstimates liveRuns = new LiveRunEstimates(System::nanoTime);

    public QuotaCheck(ServerContext.Repositories repositories, ProjectRepository.Quota defaults) {
        this.projects = repositories.projects();
        this.bulkActions = repositories.bulk();
        this.defaults = defaults;
    }

    private ProjectRepository.Quota quotaOf(RequestExecutor.RequestTransaction transaction) throws SQLException {
        return quotaOf(transaction.session(), transaction.project().name());
    }

    private ProjectRepository.Quota quotaOf(Session session, String project) throws SQLException {
        return projects.quota(session, project).map(own -> own.orElse(defaults)).orElse(defaults);
    }

    /** Throws a problem with status 429 if the project has too many schedules, including the one just created. */
    void checkSchedules(RequestExecutor.RequestTransaction transaction) throws SQLException {
        Integer most = quotaOf(transaction).maxSchedules();
        if (most != null
                && ServerReads.countSchedules(
                                transaction.session(), transaction.project().name(), most + 1L)
                        > most) throw exceeded("%d schedules".formatted(most));
    }

    /** Returns how many schedules the project may add. */
    long remainingSchedules(RequestExecutor.RequestTransaction transaction) throws SQLException {
        Integer most = quotaOf(transaction).maxSchedules();
        if (most == null) return Long.MAX_VALUE;
        return most
                - ServerReads.countSchedules(
                        transaction.session(), transaction.project().name(), most);
    }

    /** Returns a problem with status 429: the project has as many schedules as its quota allows. */
    Problem tooManySchedules(RequestExecutor.RequestTransaction transaction) throws SQLException {
        return exceeded("%d schedules".formatted(quotaOf(transaction).maxSchedules()));
    }

    /** Throws a problem with status 429 if {@code more} further runs exceed the quota. */
    public void checkRuns(RequestExecutor.RequestTransaction transaction, int more) throws SQLException {
        if (!tryAddRuns(transaction.session(), transaction.project().name(), more))
            throw exceeded(
                    "%d waiting and running runs".formatted(quotaOf(transaction).maxWaiting()));
    }

    /** Counts {@code more} further runs. Returns false, and counts nothing, if they exceed the quota. */
    boolean tryAddRuns(Session session, String project, int more) throws SQLException {
        Long most = quotaOf(session, project).maxWaiting();
        return most == null
                || liveRuns.tryAdd(project, more, most, () -> ServerReads.countLiveRuns(session, project, most + 1));
    }

    /** Counts further runs, whether or not they exceed the quota. */
    void addRuns(String project, int more) {
        liveRuns.add(project, more);
    }

    /** Throws a problem with status 429 if the project has too many endpoints, including the one just created. */
    void checkEndpoints(RequestExecutor.RequestTransaction transaction, EndpointRepository endpoints)
            throws SQLException {
        Integer most = quotaOf(transaction).maxEndpoints();
        if (most != null
                && endpoints.count(transaction.session(), transaction.project().name(), most + 1L) > most)
            throw exceeded("%d endpoints".formatted(most));
    }

    /**
     * Throws a problem with status 429 if too many queues of the project have or had settings, including the one just
     * changed. Every node reads the settings of all queues again and again, so that this limit cannot be raised.
     */
    static void checkQueueSettings(RequestExecutor.RequestTransaction transaction) throws SQLException {
        if (QueueReads.countSettings(
                        transaction.session(), transaction.project().name(), MAX_QUEUES_WITH_SETTINGS + 1L)
                > MAX_QUEUES_WITH_SETTINGS)
            throw exceeded("%d queues with limits, weights, pauses or breakers".formatted(MAX_QUEUES_WITH_SETTINGS));
    }

    /** Throws a problem with status 429 if the project has too many subscriptions, including the one just created. */
    public void checkSubscriptions(RequestExecutor.RequestTransaction transaction) throws SQLException {
        Integer most = quotaOf(transaction).maxSubscriptions();
        if (most != null
                && EventReads.countSubscriptions(
                                transaction.session(), transaction.project().name(), most + 1L)
                        > most) throw exceeded("%d subscriptions".formatted(most));
    }

    /**
     * Throws a problem with status 429 if the runs that subscriptions will get for these events exceed the quota of
     * waiting and running runs. Otherwise one request could create a thousand runs for each of its events.
     */
    public void checkEvents(RequestExecutor.RequestTransaction transaction, List<NewEvent<Payload>> events)
            throws SQLException {
        long runs = 0;
        for (NewEvent<?> event : events)
            runs += subscribers(
                    transaction, event.type().topic().name(), event.type().name());
        if (runs > 0) checkRuns(transaction, (int) Math.min(Integer.MAX_VALUE, runs));
    }

    /**
     * Like {@link #checkRuns(RequestExecutor.RequestTransaction, int)}, for further runs with this target. If they
     * publish an event, the runs that subscriptions will get for it are counted too.
     */
    void checkRuns(RequestExecutor.RequestTransaction transaction, TargetRequest target, int more) throws SQLException {
        checkRuns(transaction, target.event(), more);
    }

    /** Like {@link #checkRuns(RequestExecutor.RequestTransaction, TargetRequest, int)}, for runs of this schedule. */
    void checkRuns(RequestExecutor.RequestTransaction transaction, Schedule schedule, int more) throws SQLException {
        ScheduleDefinition.RunTemplate run = schedule.definition().template();
        checkRuns(transaction, EventTarget.of(run.targetKind(), run.targetName(), run.payload()), more);
    }

    /** Like {@link #checkRuns(RequestExecutor.RequestTransaction, TargetRequest, int)}, for a redrive of this run. */
    void checkRedrive(RequestExecutor.RequestTransaction transaction, Run run) throws SQLException {
        Optional<EventTarget> event = EventTarget.isEvent(
                        run.target().kind(), run.target().name())
                ? transaction.project().runs().payload(run.id()).flatMap(it -> EventTarget.fromPayload(it.bytes()))
                : Optional.empty();
        checkRuns(transaction, event, 1);
    }

    private void checkRuns(RequestExecutor.RequestTransaction transaction, Optional<EventTarget> event, int more)
            throws SQLException {
        long each = 1;
        if (event.isPresent())
            each += subscribers(transaction, event.get().topic(), event.get().type());
        checkRuns(transaction, (int) Math.min(Integer.MAX_VALUE, each * more));
    }

    /** Returns the number of the subscriptions that are not paused and get the events of this topic and type. */
    private long subscribers(RequestExecutor.RequestTransaction transaction, String topic, String type)
            throws SQLException {
        List<EventPattern> patterns =
                subscriptions.of(transaction.session(), transaction.project().name());
        return patterns.stream().filter(pattern -> pattern.matches(topic, type)).count();
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
    public @Nullable Integer maxStreams(RequestExecutor.RequestTransaction transaction) throws SQLException {
        return quotaOf(transaction).maxStreams();
    }

    public static Problem tooManyStreams(int most) {
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
