package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.FaultProxy;
import io.carillon.testkit.KitTick;
import io.carillon.testkit.NodeProcess;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import io.carillon.workflow.RecordedStep;
import io.carillon.workflow.Step;
import io.carillon.workflow.WorkflowType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Contains every Java block of docs/testing.md, so that the blocks compile and do what the page says. */
class TestingPageTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    private static final Pattern IMPORTS = Pattern.compile("(?m)^import .*;$");

    record Reminder(String order) {}

    record Report(String region) {}

    static final HandlerType<Reminder> REMIND = HandlerType.of("reminder.send", Reminder.class);
    static final HandlerType<Report> REPORT = HandlerType.of("report", Report.class);

    static final WorkflowType<String> TRIP = WorkflowType.of("trip", String.class);

    @Test
    void shows_only_code_that_is_compiled_here() throws Exception {
        String page = Files.readString(Path.of("..", "docs", "testing.md"));
        String source =
                stripped(Files.readString(Path.of("src/test/java/io/carillon/it/testkit/TestingPageTest.java")));

        List<String> blocks = BLOCK.matcher(page)
                .results()
                .map((MatchResult match) -> match.group(1))
                .toList();

        assertThat(blocks).hasSizeGreaterThan(4);
        assertThat(blocks).allSatisfy(block -> {
            assertThat(source).contains(stripped(IMPORTS.matcher(block).replaceAll("")));
            assertThat(IMPORTS.matcher(block).results().map(MatchResult::group)).allMatch(source::contains);
        });
    }

    private static String stripped(String code) {
        return code.lines().map(String::strip).filter(line -> !line.isEmpty()).collect(Collectors.joining("\n"));
    }

    /** The example application of the page. */
    static final class Shop {
        private final Carillon carillon;

        Shop(DataSource dataSource) {
            carillon = Carillon.on(dataSource)
                    .handle(
                            REMIND,
                            (reminder, run) -> {},
                            HandlerOptions.defaults()
                                    .retry(Retry.exponential(Duration.ofMinutes(10))
                                            .attempts(3)))
                    .handle(REPORT, (report, run) -> {})
                    .schedule("nightly-report", When.cron("30 2 * * *", "Europe/Paris"), REPORT, new Report("eu"))
                    .build();
        }

        Carillon carillon() {
            return carillon;
        }

        void place(String order) {
            carillon.enqueue(
                    REMIND,
                    new Reminder(order),
                    Enqueue.after(Duration.ofHours(24)).uniqueKey("remind:" + order));
        }
    }

    @Nested
    @CarillonTest(at = "2026-03-29T00:30:00Z")
    class ReminderTest {
        private final CarillonKit kit;
        private Shop shop;

        ReminderTest(CarillonKit kit) {
            this.kit = kit;
        }

        @BeforeEach
        void open() {
            kit.database().clear();
            shop = new Shop(kit.database().dataSource());
            kit.drive(shop.carillon());
        }

        @Test
        void reminds_one_day_after_the_order() {
            shop.place("17");

            assertThat(kit).enqueued(REMIND).withUniqueKey("remind:17").dueIn(Duration.ofHours(24));
            kit.advance(Duration.ofHours(24)).runDue();
            kit.run(REMIND).succeeded().onAttempt(1);
        }

        @Test
        void gives_up_after_three_attempts() {
            shop.place("17");
            kit.failNext(REMIND, 3, new IOException("the mail server is down"));

            kit.advance(Duration.ofHours(24)).runDue();
            kit.run(REMIND).waiting().withFailures(1);
            kit.advance(Duration.ofHours(1)).runDue();
            kit.advance(Duration.ofHours(1)).runDue();

            kit.run(REMIND).dead().withReasonContaining("mail server").withPayload(new Reminder("17"));
        }

        @Test
        void reports_once_a_night_also_when_the_clocks_change() {
            Instant start = kit.clock().now();
            for (int hour = 0; hour < 40; hour++)
                kit.advance(Duration.ofHours(1)).runDue();

            assertThat(kit.ticksBetween("nightly-report", start, kit.clock().now()))
                    .extracting(KitTick::plannedAt)
                    .containsExactly(Instant.parse("2026-03-29T01:00:00Z"), Instant.parse("2026-03-30T00:30:00Z"));
        }

        @Test
        void reminds_although_a_node_died(FaultProxy proxy) {
            shop.place("17");
            Shop doomed = new Shop(proxy.dataSource());
            proxy.killAfterClaim();

            kit.drive(doomed.carillon()).advance(Duration.ofHours(24));
            assertThatThrownBy(kit::runDue).hasMessageContaining("cannot be reached"); // "killed" after the claim
            kit.run(REMIND).running().onAttempt(1);

            kit.drive(shop.carillon()).advance(Duration.ofMinutes(2)).runDue(); // the lease has expired
            kit.run(REMIND).succeeded().onAttempt(2).withFailures(0);
            doomed.carillon().close();
            proxy.restore();
        }

        @Test
        void continues_a_trip_although_a_node_died(FaultProxy proxy) {
            Carillon doomed = trips(proxy.dataSource());
            Carillon other = trips(kit.database().dataSource());
            RunId trip = other.enqueue(TRIP.handlerType(), "Rome").run();
            proxy.killAfterSteps(1);

            assertThatThrownBy(() -> kit.drive(doomed).runDue()).hasMessageContaining("cannot be reached"); // "killed"
            kit.drive(other).advance(Duration.ofMinutes(2)).runDue(); // the lease has expired
            kit.advance(Duration.ofDays(30)).runDue(); // the sleep is over

            assertThat(booked).containsExactly("Rome"); // once
            assertThat(other.runs().steps(trip))
                    .extracting(RecordedStep::name)
                    .containsExactly("book", "until-the-trip", "remind");
            doomed.close();
            other.close();
            proxy.restore();
        }

        private final List<String> booked = new CopyOnWriteArrayList<>();

        private Carillon trips(DataSource dataSource) {
            return Carillon.on(dataSource)
                    .workflow(TRIP, (city, flow) -> {
                        flow.run(Step.of("book", Boolean.class), step -> booked.add(city));
                        flow.sleep("until-the-trip", Duration.ofDays(30));
                        return flow.run(Step.of("remind", String.class), step -> "sent");
                    })
                    .build();
        }

        @Test
        void asks_about_runs() {
            shop.place("17");

            kit.run(REMIND).waiting().onAttempt(0);
            assertThat(kit).enqueued(REMIND).withPayload(new Reminder("17")).times(1);
        }

        @Test
        void moves_the_clock(TestClock clock) {
            clock.stopAt(Instant.parse("2026-10-25T00:30:00Z")); // stopped
            clock.advance(Duration.ofHours(1)); // stopped, one hour later
            clock.useRealTime(); // real time
            clock.advance(Duration.ofDays(30)); // running, thirty days ahead
            clock.useRealTime();
        }

        @Test
        void breaks_the_network(TestDatabase database, FaultProxy proxy) throws Exception {
            database.execute("DROP TABLE IF EXISTS invoice; CREATE TABLE invoice (id integer)");
            DataSource dataSource = proxy.dataSource();

            proxy.resetAfterCommit(sql -> sql.startsWith("INSERT INTO invoice"), 1);

            assertThatThrownBy(() -> post(dataSource)).isInstanceOf(SQLException.class);
            assertThat(proxy.lostAcknowledgements()).isEqualTo(1);

            long invoices = database.query("SELECT count(*) FROM invoice").number();
            List<String> ids = database.query("SELECT id FROM invoice").texts();
            assertThat(invoices).isEqualTo(1);
            assertThat(ids).containsExactly("1");
        }

        private void post(DataSource dataSource) throws SQLException {
            try (Connection connection = dataSource.getConnection();
                    var statement = connection.createStatement()) {
                statement.execute("INSERT INTO invoice VALUES (1)");
            }
        }

        @Test
        void kills_a_node(TestDatabase database) {
            try (NodeProcess node = NodeProcess.start(ShopNode.class, database.jdbcUrl())) {
                node.awaitLine("working", Duration.ofSeconds(30));
                node.kill(); // or freeze() and resume(): a long pause of its machine
            }
        }

        @Test
        void ends_sessions(TestDatabase database) throws Exception {
            try (Connection open = database.dataSource().getConnection()) {
                assertThat(open.isValid(1)).isTrue();
                assertThat(database.terminateSessions()).isPositive();
            }
        }
    }

    /** A node of the example application. */
    static final class ShopNode {
        public static void main(String[] arguments) throws Exception {
            System.out.println("working on " + arguments[0]);
            Thread.currentThread().join();
        }
    }
}
