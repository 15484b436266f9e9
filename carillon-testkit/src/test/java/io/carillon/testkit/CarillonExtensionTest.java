package io.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.carillon.testkit.internal.server.Sql;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

class CarillonExtensionTest {
    private static final List<String> SEEN = new CopyOnWriteArrayList<>();

    @Test
    void gives_each_class_one_database_and_drops_it_afterwards() {
        SEEN.clear();

        run(FirstSample.class, SecondSample.class);

        List<String> names = SEEN.stream().distinct().toList();
        assertThat(SEEN).hasSize(5);
        assertThat(names).hasSize(2);
        assertThat(databases()).isNotEmpty().doesNotContainAnyElementsOf(names);
    }

    @Test
    void sets_the_clock_before_each_test_also_for_nested_classes() {
        SEEN.clear();

        run(StoppedSample.class);

        assertThat(SEEN)
                .containsExactlyInAnyOrder(
                        "outer 2026-03-29T00:30:00Z", "inner 2026-03-29T00:30:00Z", "own 2026-10-25T00:30:00Z");
    }

    private static void run(Class<?>... samples) {
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        var request = LauncherDiscoveryRequestBuilder.request();
        for (Class<?> sample : samples) request.selectors(selectClass(sample));
        LauncherFactory.create().execute(request.build(), summary);
        assertThat(summary.getSummary().getFailures()).isEmpty();
    }

    private static List<String> databases() {
        try (TestDatabase witness = TestDatabase.empty()) {
            return new Sql(witness.dataSource())
                    .call(session ->
                            session.query("SELECT datname FROM pg_database").list(row -> row.text("datname")));
        }
    }

    @CarillonTest
    static class FirstSample {
        private final TestDatabase database;

        FirstSample(TestDatabase database) {
            this.database = database;
        }

        @Test
        void one(TestDatabase same, FaultProxy proxy) {
            assertThat(same).isSameAs(database);
            assertThat(proxy.connections()).isZero();
            SEEN.add(database.name());
        }

        @Test
        void two(CarillonKit kit) {
            SEEN.add(kit.database().name());
        }

        @Nested
        class Inner {
            @Test
            void three(TestDatabase shared) {
                SEEN.add(shared.name());
            }
        }
    }

    @CarillonTest
    static class SecondSample {
        @Test
        void one(TestDatabase database) {
            SEEN.add(database.name());
        }

        @Test
        void two(TestDatabase database) {
            SEEN.add(database.name());
        }
    }

    @CarillonTest(at = "2026-03-29T00:30:00Z")
    static class StoppedSample {
        @Test
        void stands(TestClock clock) {
            SEEN.add("outer " + clock.now());
            clock.stopAt(Instant.EPOCH);
        }

        @Nested
        class Inner {
            @Test
            void stands(TestClock clock) {
                SEEN.add("inner " + clock.now());
                clock.stopAt(Instant.EPOCH);
            }
        }

        @Nested
        @CarillonTest(at = "2026-10-25T00:30:00Z")
        class Own {
            @Test
            void stands(TestClock clock) {
                SEEN.add("own " + clock.now());
            }
        }
    }
}
