package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.carillon.embedded.internal.datadir.Processes;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TemporaryServerTest {
    private static EmbeddedPostgres postgres;

    @BeforeAll
    static void start() {
        postgres = EmbeddedPostgres.temporary()
                .setting("fsync", "on")
                .setting("shared_buffers", "32MB")
                .setting("carillon.note", "it's; \"quoted\" $x")
                .start();
    }

    @AfterAll
    static void close() {
        postgres.close();
    }

    @Test
    void settings_of_the_caller_win_over_the_defaults() throws Exception {
        assertThat(Sql.query(postgres, "SHOW fsync")).isEqualTo("on");
        assertThat(Sql.query(postgres, "SHOW shared_buffers")).isEqualTo("32MB");
        assertThat(Sql.query(postgres, "SHOW carillon.note")).isEqualTo("it's; \"quoted\" $x");
    }

    @Test
    void defaults_are_fast_and_allow_many_connections() throws Exception {
        assertThat(Sql.query(postgres, "SHOW synchronous_commit")).isEqualTo("off");
        assertThat(Sql.query(postgres, "SHOW full_page_writes")).isEqualTo("off");
        assertThat(Sql.query(postgres, "SHOW max_connections")).isEqualTo("200");
        assertThat(Sql.query(postgres, "SHOW log_timezone")).isEqualTo("UTC");
        // The driver sets its own time zone in each session, so the setting of the server shows only in
        // its start arguments.
        assertThat(Sql.query(postgres, "SELECT pg_read_file('postmaster.opts')"))
                .contains("\"timezone=UTC\"");
        assertThat(Sql.query(
                        postgres,
                        "SELECT concat_ws(' ', pg_encoding_to_char(encoding), datlocprovider, datlocale)"
                                + " FROM pg_database WHERE datname = 'carillon'"))
                .isEqualTo("UTF8 b C.UTF-8");
    }

    @Test
    void the_password_is_required_and_checked() throws Exception {
        assertThatThrownBy(() -> Sql.query(postgres.jdbcUrl(), "wrong", "SELECT 1"))
                .asInstanceOf(type(SQLException.class))
                .extracting(SQLException::getSQLState)
                .isEqualTo("28P01");
        assertThatThrownBy(() -> Sql.query(postgres.jdbcUrl(), "", "SELECT 1")).isInstanceOf(SQLException.class);
        assertThat(Sql.query(postgres, "SELECT string_agg(DISTINCT auth_method, ',') FROM pg_hba_file_rules"))
                .isEqualTo("scram-sha-256");
        assertThat(Sql.query(postgres, "SELECT left(rolpassword, 14) FROM pg_authid WHERE rolname = 'carillon'"))
                .isEqualTo("SCRAM-SHA-256$");
    }

    @Test
    void only_this_machine_can_reach_it() throws Exception {
        assertThat(Sql.query(postgres, "SHOW listen_addresses")).isEqualTo("127.0.0.1");
        assertThat(Sql.query(postgres, "SHOW unix_socket_directories")).isEmpty();
    }

    @Test
    void a_url_leads_to_the_database_it_names() throws Exception {
        Sql.execute(postgres.jdbcUrl(), postgres.password(), "CREATE DATABASE \"other db?/+%\"");
        assertThat(Sql.query(postgres.jdbcUrl("other db?/+%"), postgres.password(), "SELECT current_database()"))
                .isEqualTo("other db?/+%");
        assertThat(Sql.query(postgres, "SELECT current_database()")).isEqualTo("carillon");
    }

    @Test
    void a_port_of_another_server_is_refused() {
        assertThatThrownBy(
                        () -> EmbeddedPostgres.temporary().port(postgres.port()).start())
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("Port " + postgres.port() + " on 127.0.0.1 is in use by another program");
    }

    @Test
    void a_start_is_retried_on_another_port_when_the_port_was_taken() throws Exception {
        Iterator<Integer> ports = List.of(postgres.port(), Ports.free()).iterator();
        try (EmbeddedPostgres second =
                EmbeddedPostgres.temporary().ports(ports::next).start()) {
            assertThat(second.port()).isNotEqualTo(postgres.port());
            assertThat(Sql.query(second, "SHOW data_directory"))
                    .isEqualTo(second.dataDirectory().toString());
        }
    }

    @Test
    void the_server_on_a_port_must_work_on_the_expected_data(@TempDir Path elsewhere) throws Exception {
        ServerVerifier ours = new ServerVerifier(postgres.dataDirectory(), postgres.password());
        ServerVerifier otherData = new ServerVerifier(elsewhere, postgres.password());

        ours.verify(postgres.port());
        assertThat(ours.isOurServer(postgres.port())).isTrue();
        assertThat(otherData.isOurServer(postgres.port())).isFalse();
        assertThatThrownBy(() -> otherData.verify(postgres.port()))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining(
                        "belongs to another PostgreSQL server, which works on " + postgres.dataDirectory());
    }

    @Test
    void a_failed_start_reports_the_last_log_lines_and_leaves_nothing() {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.temporary().setting("shared_buffers", "plenty");

        EmbeddedPostgresException failure = catchThrowableOfType(EmbeddedPostgresException.class, builder::start);

        assertThat(failure).hasMessageContaining("invalid value for parameter \"shared_buffers\": \"plenty\"");
        Matcher named = Pattern.compile("PostgreSQL on (.*)/data ended before it was ready")
                .matcher(failure.getMessage());
        assertThat(named.find()).as(failure.getMessage()).isTrue();
        assertThat(Path.of(named.group(1))).doesNotExist();
    }

    @Test
    void closing_ends_the_server_and_removes_the_directory_even_for_an_interrupted_thread() throws Exception {
        EmbeddedPostgres second = EmbeddedPostgres.temporary().start();
        Path data = second.dataDirectory();
        long pid = second.pid();
        assertThat(Sql.query(second, "SHOW fsync")).isEqualTo("off");

        Thread.currentThread().interrupt();
        second.close();

        assertThat(Thread.interrupted()).as("still interrupted").isTrue();
        assertThat(Processes.isRunning(pid)).isFalse();
        assertThat(data.getParent()).doesNotExist();
        second.close();
        assertThatThrownBy(second::restart).isInstanceOf(IllegalStateException.class);
    }
}
