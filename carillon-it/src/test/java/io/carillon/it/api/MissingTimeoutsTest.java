package io.carillon.it.api;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.internal.api.DataSources;
import io.carillon.testkit.TestDatabase;
import java.util.List;
import java.util.Properties;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.LoggerFactory;

/** At its start, Carillon logs the timeouts that its data source lacks. */
class MissingTimeoutsTest {
    private static final String ALL = "connectTimeout=5&socketTimeout=10&loginTimeout=30&targetServerType=primary";
    private static final String TEXT =
            "data source lacks timeouts; a node may keep waiting for a server that does not respond";
    private static TestDatabase database;

    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final Logger log = (Logger) LoggerFactory.getLogger(DataSources.class);

    @BeforeAll
    static void open() {
        database = TestDatabase.migrated();
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @BeforeEach
    void listen() {
        log.setLevel(Level.INFO);
        lines.start();
        log.addAppender(lines);
    }

    @AfterEach
    void stopListening() {
        log.detachAppender(lines);
        log.setLevel(null);
    }

    @Test
    void names_each_missing_timeout() {
        assertThat(logged(twoHosts()))
                .containsExactly("WARN " + TEXT + " missing=[socketTimeout, loginTimeout, targetServerType]"
                        + " advice=socketTimeout=10&loginTimeout=30&targetServerType=primary");
        assertThat(logged(twoHosts() + "&" + ALL.replace("connectTimeout=5", "connectTimeout=0")))
                .containsExactly("WARN " + TEXT + " missing=[connectTimeout] advice=connectTimeout=5");
    }

    @Test
    void one_host_is_no_reason_for_a_warning() {
        assertThat(logged(oneHost()))
                .containsExactly("INFO " + TEXT
                        + " missing=[socketTimeout, loginTimeout] advice=socketTimeout=10&loginTimeout=30");
    }

    @Test
    void logs_nothing_if_the_url_has_all_timeouts() {
        assertThat(logged(twoHosts() + "&" + ALL)).isEmpty();
        assertThat(logged(oneHost() + "&" + ALL)).isEmpty();
    }

    @Test
    void settings_of_the_pool_count() {
        Properties settings = new Properties();
        for (String setting : ALL.split("&", -1)) {
            String[] parts = setting.split("=", -1);
            settings.setProperty(parts[0], parts[1]);
        }

        assertThat(loggedByPool(settings)).isEmpty();
        settings.remove("loginTimeout");
        assertThat(loggedByPool(settings))
                .containsExactly("WARN " + TEXT + " missing=[loginTimeout] advice=loginTimeout=30");
    }

    private static String oneHost() {
        PGSimpleDataSource address = new PGSimpleDataSource();
        address.setUrl(database.jdbcUrl());
        return "jdbc:postgresql://%s:%d/%s?user=%s&password=%s"
                .formatted(
                        address.getServerNames()[0],
                        address.getPortNumbers()[0],
                        database.name(),
                        database.user(),
                        database.password());
    }

    /** Returns a URL that names the same host twice. */
    private static String twoHosts() {
        return oneHost().replaceFirst("//([^/]+)/", "//$1,$1/");
    }

    private List<String> logged(String url) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        return logged(source);
    }

    private List<String> loggedByPool(Properties settings) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(twoHosts());
        config.setMaximumPoolSize(4);
        config.setDataSourceProperties(settings);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            return logged(pool);
        }
    }

    /** Returns the lines that Carillon logs when it opens this data source. */
    private List<String> logged(DataSource source) {
        lines.list.clear();
        Carillon.on(source).build().close();
        return lines.list.stream()
                .map(line -> line.getLevel() + " " + line.getFormattedMessage())
                .toList();
    }
}
