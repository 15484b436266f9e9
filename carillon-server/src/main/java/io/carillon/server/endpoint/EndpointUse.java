package io.carillon.server.endpoint;

import io.carillon.PauseOptions;
import io.carillon.Project;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.reads.QueueReads;
import io.carillon.server.http.Problem;
import io.carillon.webhook.Endpoint;
import java.sql.SQLException;
import java.util.List;

/**
 * The schedules and runs that need an endpoint. The caller has locked the endpoint, so that no further ones are stored.
 *
 * @param runs the number of waiting and running runs, counted up to {@link #MAX_COUNT}
 */
public record EndpointUse(String endpoint, List<String> schedules, long runs) {
    private static final long MAX_COUNT = 10_000;

    public static EndpointUse of(Session session, String project, String endpoint) throws SQLException {
        String queue = Endpoint.queueOf(endpoint);
        return new EndpointUse(
                endpoint,
                QueueReads.schedules(session, project, queue),
                QueueReads.countLiveRuns(session, project, queue, MAX_COUNT));
    }

    /** Throws a problem with status 409 if a schedule or run needs the endpoint. */
    public void requireNone() {
        if (schedules.isEmpty() && runs == 0) return;
        throw Problem.of(
                409,
                "endpoint-in-use",
                ("%d schedules and %d%s waiting or running runs use this endpoint. Delete or change them first, or "
                                + "send force=true to pause them and delete the endpoint.")
                        .formatted(schedules.size(), runs, runs == MAX_COUNT ? " or more" : ""));
    }

    /** Pauses the queue of the endpoint and its schedules until an operator resumes them. */
    public void pause(Project project, String actor) {
        if (schedules.isEmpty() && runs == 0) return;
        PauseOptions options =
                PauseOptions.untilResumed().by(actor).reason("endpoint \"%s\" was deleted".formatted(endpoint));
        project.queues().pause(Endpoint.queueOf(endpoint), options);
        for (String schedule : schedules) project.schedules().pause(schedule, options);
    }
}
