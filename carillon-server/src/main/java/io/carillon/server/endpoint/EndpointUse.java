package io.carillon.server.endpoint;

import io.carillon.PauseOptions;
import io.carillon.Project;
import io.carillon.QueueInfo;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.reads.EventReads;
import io.carillon.internal.postgres.reads.QueueReads;
import io.carillon.server.http.Problem;
import io.carillon.webhook.Endpoint;
import java.sql.SQLException;
import java.util.List;

/**
 * The schedules, subscriptions and runs that need an endpoint. The caller has locked the endpoint, so that no further
 * ones are stored.
 *
 * @param schedules the names of the schedules, up to one more than {@link #MAX_SCHEDULES}
 * @param subscriptions the names of the subscriptions, up to one more than {@link #MAX_SCHEDULES}
 * @param runs the number of waiting and running runs, counted up to {@link #MAX_COUNT}
 */
public record EndpointUse(String endpoint, List<String> schedules, List<String> subscriptions, long runs) {
    private static final long MAX_COUNT = 10_000;
    /** The number of schedules that one deletion pauses. The schedules and the endpoint are locked meanwhile. */
    private static final int MAX_SCHEDULES = 10_000;

    public static EndpointUse of(Session session, String project, String endpoint) throws SQLException {
        String queue = Endpoint.queueOf(endpoint);
        return new EndpointUse(
                endpoint,
                QueueReads.schedules(session, project, queue, MAX_SCHEDULES + 1),
                EventReads.subscriptionsOfEndpoint(session, project, endpoint, MAX_SCHEDULES + 1),
                QueueReads.countLiveRuns(session, project, queue, MAX_COUNT));
    }

    /** Throws a problem with status 409 if a schedule, subscription or run needs the endpoint. */
    public void requireNone() {
        if (isNone()) return;
        throw inUse(
                ("The endpoint is used by %s, %s and %s. Delete or change them first, or send force=true to pause them "
                                + "and delete the endpoint.")
                        .formatted(
                                counted(schedules.size(), MAX_SCHEDULES, "schedule"),
                                counted(subscriptions.size(), MAX_SCHEDULES, "subscription"),
                                counted(runs, MAX_COUNT - 1, "waiting or running run")));
    }

    private static String counted(long count, long most, String noun) {
        return "%d%s %s%s"
                .formatted(Math.min(count, most), count > most ? " or more" : "", noun, count == 1 ? "" : "s");
    }

    private static Problem inUse(String why) {
        return Problem.of(409, "endpoint-in-use", why);
    }

    private boolean isNone() {
        return schedules.isEmpty() && subscriptions.isEmpty() && runs == 0;
    }

    /** Pauses the queue of the endpoint, its schedules and its subscriptions until an operator resumes them. */
    public void pause(Project project, String actor) {
        if (isNone()) return;
        if (schedules.size() > MAX_SCHEDULES || subscriptions.size() > MAX_SCHEDULES)
            throw inUse(("More than %d schedules or subscriptions use this endpoint, too many to pause in one request."
                            + " Delete or change some of them first.")
                    .formatted(MAX_SCHEDULES));
        PauseOptions options = PauseOptions.untilResumed().by(actor).reason(reasonOfPause(endpoint));
        project.queues().pause(Endpoint.queueOf(endpoint), options);
        project.schedules().pause(schedules, options);
        subscriptions.forEach(name -> project.events().pause(name, reasonOfPause(endpoint), actor));
    }

    private static String reasonOfPause(String endpoint) {
        return "endpoint \"%s\" was deleted".formatted(endpoint);
    }

    /**
     * Resumes the queue of a new endpoint if the deletion of an earlier one of the same name paused it, and no run of
     * that one is left. Otherwise it stays paused: the runs are not sent to the new URL unless a user resumes it.
     *
     * @return whether this call resumed the queue
     */
    public static boolean resumeEmptyQueue(Session session, Project project, String endpoint) throws SQLException {
        String queue = Endpoint.queueOf(endpoint);
        QueueInfo.Pause pause =
                QueueReads.pauses(session, project.name(), List.of(queue)).get(queue);
        return pause != null
                && reasonOfPause(endpoint).equals(pause.reason())
                && QueueReads.countLiveRuns(session, project.name(), queue, 1) == 0
                && project.queues().resume(queue);
    }
}
