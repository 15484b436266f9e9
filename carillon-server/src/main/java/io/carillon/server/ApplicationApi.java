package io.carillon.server;

import io.carillon.Carillon;
import io.carillon.server.access.Cursors;
import io.carillon.server.access.KeyIssuer;
import io.carillon.server.api.Api;
import io.carillon.server.api.BulkWorker;
import io.carillon.server.api.QuotaCheck;
import io.carillon.server.api.ServerContext;
import io.carillon.server.dashboard.DashboardFiles;
import io.carillon.server.dashboard.DashboardRoutes;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Authenticator;
import io.carillon.server.http.RequestDispatcher;
import io.carillon.server.http.Route;
import io.carillon.server.http.Router;
import io.carillon.server.store.ProjectRepository;
import io.carillon.server.store.Transactions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * The dashboard and the part of the API that it needs, for an application that passes requests from its own HTTP
 * server. The application identifies the callers: there are no keys, sessions and projects. The tables must exist.
 */
public final class ApplicationApi implements AutoCloseable {
    /** The application limits what it starts; the dashboard only adds what its users do by hand. */
    private static final ProjectRepository.Quota NO_QUOTA =
            new ProjectRepository.Quota(null, null, null, null, null, null, null);

    private static final Duration AUDIT_RETENTION = Duration.ofDays(365);

    private final RequestDispatcher dispatcher;
    private final List<Thread> threads;

    /**
     * Creates the API.
     *
     * @param changes whether some callers may change something; then two threads execute bulk actions and delete old
     *     entries of the audit log
     */
    public ApplicationApi(Carillon carillon, DataSource dataSource, Authenticator authenticator, boolean changes) {
        Transactions transactions = Transactions.withoutRowSecurity(dataSource);
        ServerContext.Repositories repositories = ServerContext.Repositories.on(transactions);
        byte[] secret = repositories.projects().getOrCreateSecret("cursor");
        ServerContext context = new ServerContext(
                carillon, transactions, repositories, new Cursors(secret), new KeyIssuer(secret), Optional.empty());
        QuotaCheck quotaCheck = new QuotaCheck(repositories, NO_QUOTA);
        BulkWorker bulk = new BulkWorker(context, quotaCheck);
        List<Route> routes = new ArrayList<>(Api.applicationRoutes(context, quotaCheck, bulk));
        routes.addAll(DashboardRoutes.inApplication(new DashboardFiles("")).routes());
        dispatcher = RequestDispatcher.forApplication(new Router(routes), authenticator);
        threads = changes
                ? List.of(
                        Threads.startLoop("carillon-dashboard-bulk", bulk::runOnce),
                        Threads.startPeriodic(
                                ExpiredRows.INTERVAL, () -> ExpiredRows.delete(repositories, AUDIT_RETENTION)))
                : List.of();
    }

    /** Handles a request. The path begins after the prefix under which the application shows the dashboard. */
    public ApiResponse handle(RequestDispatcher.RawRequest request, RequestDispatcher.BodySource body) {
        return dispatcher.handle(request, body);
    }

    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
    }
}
