package io.carillon.dashboard;

import static java.util.Objects.requireNonNull;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import jakarta.servlet.http.HttpServlet;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a dashboard in an application. Methods return changed copies; {@link #servlet()} creates the servlet:
 *
 * <pre>{@code
 * HttpServlet dashboard = CarillonDashboard.on(carillon, dataSource)
 *     .authorizer(request -> request.isUserInRole("ops")
 *         ? DashboardAccess.operator(request.getRemoteUser())
 *         : DashboardAccess.none())
 *     .servlet();
 * }</pre>
 */
public final class CarillonDashboard {
    /** Callers have no names and change nothing. */
    private static final DashboardAuthorizer PUBLIC_READ_ONLY = request -> DashboardAccess.viewer("anonymous");

    private final Carillon carillon;
    private final DataSource dataSource;
    private final String project;
    private final @Nullable DashboardAuthorizer authorizer;

    private CarillonDashboard(
            Carillon carillon, DataSource dataSource, String project, @Nullable DashboardAuthorizer authorizer) {
        this.carillon = requireNonNull(carillon, "carillon");
        this.dataSource = requireNonNull(dataSource, "dataSource");
        this.project = project;
        this.authorizer = authorizer;
    }

    /**
     * Returns a dashboard of the project {@code default}. It needs {@link #authorizer} or {@link #publicReadOnly()}.
     *
     * @param dataSource the pool for requests; it may be the one of the engine if it has connections to spare
     */
    public static CarillonDashboard on(Carillon carillon, DataSource dataSource) {
        return new CarillonDashboard(carillon, dataSource, "default", null);
    }

    /** Shows another project. */
    public CarillonDashboard project(String name) {
        return new CarillonDashboard(carillon, dataSource, Names.check("project", name), authorizer);
    }

    /** Sets who may see and change what. */
    public CarillonDashboard authorizer(DashboardAuthorizer decides) {
        return new CarillonDashboard(carillon, dataSource, project, requireNonNull(decides, "authorizer"));
    }

    /**
     * Shows everything to each caller who reaches the path, and changes nothing: only the security of the application
     * protects the data, such as payloads of runs.
     */
    public CarillonDashboard publicReadOnly() {
        return new CarillonDashboard(carillon, dataSource, project, PUBLIC_READ_ONLY);
    }

    /**
     * Creates the servlet. Map it to a path such as {@code /carillon/*}, and let it be asynchronous, so that pages
     * change by themselves; without, they poll. It uses the database from its first request on. The container closes
     * it. Throws if neither an authorizer is set nor the dashboard is public.
     */
    public HttpServlet servlet() {
        authorizer();
        return new DashboardServlet(this);
    }

    Carillon carillon() {
        return carillon;
    }

    DataSource dataSource() {
        return dataSource;
    }

    String projectName() {
        return project;
    }

    DashboardAuthorizer authorizer() {
        if (authorizer == null)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The dashboard needs an authorizer, which decides who may see and change what: set authorizer(…)."
                            + " To show everything to each caller who reaches the path, set publicReadOnly().");
        return authorizer;
    }

    boolean isReadOnly() {
        return authorizer == PUBLIC_READ_ONLY;
    }
}
