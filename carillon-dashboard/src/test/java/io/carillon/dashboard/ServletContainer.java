package io.carillon.dashboard;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Principal;
import java.util.EnumSet;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * A real servlet container with the dashboard at {@code /shop/carillon}. Its security is a filter: the header {@code
 * X-User} names the user, and each user has the role of the same name.
 */
enum ServletContainer {
    TOMCAT {
        @Override
        Running start(HttpServlet servlet, boolean async) throws Exception {
            LOG.setLevel(Level.SEVERE);
            Path folder = Files.createTempDirectory("carillon-tomcat");
            Tomcat tomcat = new Tomcat();
            tomcat.setBaseDir(folder.toString());
            tomcat.setPort(0);
            Context context = tomcat.addContext("/shop", folder.toString());
            Wrapper wrapper = Tomcat.addServlet(context, "dashboard", servlet);
            wrapper.setAsyncSupported(async);
            context.addServletMappingDecoded("/carillon/*", "dashboard");
            FilterDef users = new FilterDef();
            users.setFilterName("users");
            users.setFilter(USERS);
            users.setAsyncSupported("true");
            context.addFilterDef(users);
            FilterMap everywhere = new FilterMap();
            everywhere.setFilterName("users");
            everywhere.addURLPattern("/*");
            context.addFilterMap(everywhere);
            tomcat.start();
            return new Running(tomcat.getConnector().getLocalPort(), () -> {
                tomcat.stop();
                tomcat.destroy();
            });
        }
    },
    JETTY {
        @Override
        Running start(HttpServlet servlet, boolean async) throws Exception {
            Server server = new Server();
            ServerConnector connector = new ServerConnector(server);
            connector.setHost("127.0.0.1");
            server.addConnector(connector);
            ServletContextHandler context = new ServletContextHandler("/shop");
            ServletHolder holder = new ServletHolder(servlet);
            holder.setAsyncSupported(async);
            context.addServlet(holder, "/carillon/*");
            FilterHolder users = new FilterHolder(USERS);
            users.setAsyncSupported(true);
            context.addFilter(users, "/*", EnumSet.of(DispatcherType.REQUEST));
            server.setHandler(context);
            server.start();
            return new Running(connector.getLocalPort(), server::stop);
        }
    };

    /** Kept here, because the level of a logger without a reference is forgotten. */
    private static final Logger LOG = Logger.getLogger("org.apache");

    private static final Filter USERS =
            (request, response, chain) -> chain.doFilter(new NamedUser((HttpServletRequest) request), response);

    /** Stops a container. */
    interface Stop {
        void stop() throws Exception;
    }

    /** A container that accepts requests. */
    record Running(int port, Stop stop) implements AutoCloseable {
        String url() {
            return "http://127.0.0.1:" + port + "/shop/carillon";
        }

        @Override
        public void close() {
            try {
                stop.stop();
            } catch (Exception failure) {
                throw new IllegalStateException("the container does not stop", failure);
            }
        }
    }

    private static final class NamedUser extends HttpServletRequestWrapper {
        NamedUser(HttpServletRequest request) {
            super(request);
        }

        @Override
        public Principal getUserPrincipal() {
            String name = getHeader("X-User");
            return name == null ? null : () -> name;
        }

        @Override
        public String getRemoteUser() {
            return getHeader("X-User");
        }

        @Override
        public boolean isUserInRole(String role) {
            return role.equals(getHeader("X-User"));
        }
    }

    /** Starts a container at a free port. */
    abstract Running start(HttpServlet servlet, boolean async) throws Exception;

    Running start(HttpServlet servlet) throws Exception {
        return start(servlet, true);
    }
}
