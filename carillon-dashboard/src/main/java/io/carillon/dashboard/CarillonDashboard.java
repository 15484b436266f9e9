package io.carillon.dashboard;

import static java.util.Objects.requireNonNull;

import io.carillon.Carillon;
import io.carillon.internal.value.Names;
import jakarta.servlet.http.HttpServlet;
import javax.sql.DataSource;

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
    /** Without an authorizer, users have no names and change nothing. */
    private static final DashboardAuthorizer READ_ONLY = request -> DashboardAccess.viewer("anonymous");

    private final Carillon carillon;
    private final DataSource dataSource;
    private final String project;
    private final DashboardAuthorizer authorizer;

    private CarillonDashboard(
            Carillon carillon, DataSource dataSource, String project, DashboardAuthorizer authorizer) {
        this.carillon = requireNonNull(carillon, "carillon");
        this.dataSource = requireNonNull(dataSource, "dataSource");
        this.project = project;
        this.authorizer = requireNonNull(authorizer, "authorizer");
    }

    /**
     * Returns a dashboard of the project {@code default} that changes nothing.
     *
     * @param dataSource the pool for requests; it may be the one of the engine if it has connections to spare
     */
    public static CarillonDashboard on(Carillon carillon, DataSource dataSource) {
        return new CarillonDashboard(carillon, dataSource, "default", READ_ONLY);
    }

    /** Shows another project. */
    public CarillonDashboard project(String name) {
        return new CarillonDashboard(carillon, dataSource, Names.check("project", name), authorizer);
    }

    /**
     * Sets who may see and change what. Default: each caller sees everything and changes nothing, so that only the
     * security of the application protects the data.
     */
    public CarillonDashboard authorizer(DashboardAuthorizer decides) {
        return new CarillonDashboard(carillon, dataSource, project, decides);
    }

    /**
     * Creates the servlet. Map it to a path such as {@code /carillon/*}, and let it be asynchronous, so that pages
     * change by themselves; without, they poll. It uses the database from its first request on. The container closes
     * it.
     */
    public HttpServlet servlet() {
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
        return authorizer;
    }

    boolean isReadOnly() {
        return authorizer == READ_ONLY;
    }
}
