package io.carillon.it.docs;

import io.carillon.Carillon;
import io.carillon.dashboard.CarillonDashboard;
import io.carillon.dashboard.DashboardAccess;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServlet;
import javax.sql.DataSource;

/** Every Java line of the page on the dashboard, compiled. {@link SnippetsTest} compares the page with this file. */
@SuppressWarnings("unused")
final class DashboardSnippets {
    // spotless:off
    private DashboardSnippets() {}

static void add(ServletContext context, Carillon carillon, DataSource dataSource) {
    HttpServlet dashboard = CarillonDashboard.on(carillon, dataSource)
        .authorizer(request -> request.isUserInRole("ops")
            ? DashboardAccess.operator(request.getRemoteUser())
            : DashboardAccess.none())
        .servlet();
    ServletRegistration.Dynamic registration = context.addServlet("carillon", dashboard);
    registration.setAsyncSupported(true);
    registration.addMapping("/carillon/*");
}
    // spotless:on
}
