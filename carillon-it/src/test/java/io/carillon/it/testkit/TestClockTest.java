package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.ds.PGSimpleDataSource;

@CarillonTest
class TestClockTest {
    private static final Instant SPRING = Instant.parse("2026-03-29T00:30:00.123456Z");
    private final TestDatabase database;
    private final TestClock clock;

    TestClockTest(TestDatabase database, TestClock clock) {
        this.database = database;
        this.clock = clock;
    }

    @BeforeEach
    void reset() {
        clock.useRealTime();
    }

    @Test
    void stays_at_the_set_instant_and_every_session_sees_it() throws Exception {
        clock.stopAt(SPRING);

        assertThat(clock.now()).isEqualTo(SPRING);
        assertThat(clock.isStopped()).isTrue();
        assertThat(database.query("SELECT extract(epoch FROM carillon.clock())::text")
                        .texts())
                .containsExactly("1774744200.123456");
    }

    @Test
    void stays_stopped_after_each_step() {
        clock.stopAt(SPRING);

        clock.advance(Duration.ofHours(24));
        clock.advance(Duration.ofNanos(-1_000));

        assertThat(clock.now()).isEqualTo(Instant.parse("2026-03-30T00:30:00.123455Z"));
    }

    @Test
    void runs_ahead_of_real_time_when_it_was_not_stopped() {
        clock.advance(Duration.ofDays(400));
        clock.advance(Duration.ofDays(1));

        Instant first = clock.now();

        assertThat(clock.isStopped()).isFalse();
        assertThat(clock.now()).isAfter(first);
        assertThat(first).isCloseTo(realTime().plus(Duration.ofDays(401)), within(1, ChronoUnit.MINUTES));
    }

    @Test
    void shows_real_time_again_after_use_real_time() {
        clock.advance(Duration.ofDays(1));
        clock.stopAt(SPRING);

        clock.useRealTime();

        assertThat(clock.now()).isCloseTo(realTime(), within(1, ChronoUnit.MINUTES));
    }

    @Test
    void wakes_every_engine_with_each_change() throws Exception {
        try (Connection listening = database.dataSource().getConnection();
                Statement statement = listening.createStatement()) {
            statement.execute("LISTEN carillon");
            List<String> received = new ArrayList<>();

            clock.stopAt(SPRING);
            received.addAll(receivedNotifications(listening));
            clock.advance(Duration.ofSeconds(1));
            received.addAll(receivedNotifications(listening));
            clock.useRealTime();
            received.addAll(receivedNotifications(listening));

            assertThat(received).containsExactly("check", "check", "check");
            statement.execute("UNLISTEN *");
        }
    }

    private static List<String> receivedNotifications(Connection listening) throws Exception {
        List<String> received = new ArrayList<>();
        for (PGNotification each : listening.unwrap(PGConnection.class).getNotifications(10_000)) {
            received.add(each.getParameter());
        }
        return received;
    }

    @Test
    void changes_no_other_database() throws Exception {
        try (TestDatabase other = TestDatabase.migrated()) {
            clock.stopAt(SPRING);

            assertThat(other.query("SELECT (carillon.clock() = statement_timestamp())::text")
                            .texts())
                    .containsExactly("true");
        }
    }

    @Test
    void can_bound_an_index_range_while_stopped() throws Exception {
        clock.stopAt(SPRING);
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off");

            assertThat(TestDatabase.query(
                                    connection,
                                    "EXPLAIN SELECT 1 FROM carillon.run"
                                            + " WHERE ready_at <= carillon.clock() ORDER BY ready_at LIMIT 1")
                            .texts())
                    // If the role has the name of the schema, the schema is on its search path and the plan omits it.
                    .anyMatch(line -> line.matches(".*Index Cond: \\(ready_at <= (carillon\\.)?clock\\(\\)\\).*"));
            connection.rollback();
        }
    }

    @Test
    void rejects_a_database_that_the_kit_did_not_create() {
        PGSimpleDataSource foreign = new PGSimpleDataSource();
        foreign.setUrl(database.jdbcUrl());
        foreign.setUser(database.user());
        foreign.setPassword(database.password());
        foreign.setDatabaseName("postgres");

        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> TestClock.on(foreign))
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUITABLE_DATA_SOURCE))
                .withMessageContaining("postgres")
                .withMessageContaining("was not created by the test kit");
    }

    @Test
    void can_be_opened_by_many_threads_at_the_same_time() {
        try (TestDatabase fresh = TestDatabase.migrated()) {
            List<CompletableFuture<TestClock>> clocks = new ArrayList<>();
            for (int i = 0; i < 8; i++) clocks.add(CompletableFuture.supplyAsync(fresh::clock));

            assertThat(clocks)
                    .allSatisfy(each -> assertThat(each.join().isStopped()).isFalse());
        }
    }

    private Instant realTime() {
        return Instant.parse(database.query("SELECT to_char(statement_timestamp() AT TIME ZONE 'UTC',"
                        + " 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
                .text());
    }
}
