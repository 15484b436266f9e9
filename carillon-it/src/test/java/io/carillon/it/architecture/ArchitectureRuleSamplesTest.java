package io.carillon.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each rule about compiled classes rejects one small bad sample with the real package names. */
class ArchitectureRuleSamplesTest {

    private static final List<ArchRule> ALL = List.of(
            ArchitectureRules.EVERY_PACKAGE_IS_IN_THE_PLAN,
            ArchitectureRules.PACKAGES_USE_ONLY_WHAT_THE_PLAN_ALLOWS,
            ArchitectureRules.NO_PACKAGE_CYCLES,
            ArchitectureRules.NO_INTERNAL_PACKAGE_USES_AN_ENTRY_POINT,
            ArchitectureRules.API_SIGNATURES_MENTION_ONLY_API_TYPES,
            ArchitectureRules.ONE_CLASS_READS_THE_WALL_CLOCK,
            ArchitectureRules.THREADS_ARE_MADE_IN_ONE_PLACE,
            ArchitectureRules.ONLY_THE_COMMAND_ENDS_THE_JVM,
            ArchitectureRules.NO_JAVA_SERIALIZATION);

    @TempDir
    Path classes;

    @Test
    void valid_classes_pass_every_rule() throws IOException {
        JavaClasses valid = compiled(
                """
                package io.carillon.internal.value;
                public record WallClock(byte[] bytes, int[][] numbers) {
                    public static java.time.Instant read() {
                        Runnable nested = new Runnable() { public void run() { System.currentTimeMillis(); } };
                        nested.run();
                        return java.time.Instant.now();
                    }
                }
                """,
                "package io.carillon.internal.store; public interface SampleStore { void in(java.sql.Connection"
                        + " connection); }",
                """
                package io.carillon.internal.engine;
                final class Threads { static Thread thread(Runnable loop) { return new Thread(loop); } }
                """,
                """
                package io.carillon.embedded;
                final class Stop {
                    static void atExit(Runnable stop) { Runtime.getRuntime().addShutdownHook(new Thread(stop)); }
                }
                """,
                """
                package io.carillon.internal.postgres;
                final class SampleRepository implements io.carillon.internal.store.SampleStore {
                    private org.postgresql.PGConnection driver;
                    public void in(java.sql.Connection connection) {}
                }
                """,
                """
                package io.carillon;
                public class Carillon {
                    io.carillon.internal.store.SampleStore store;
                    public javax.sql.DataSource source;
                }
                """,
                """
                package io.carillon.cli;
                final class SampleMain {
                    static void main(io.carillon.Carillon carillon) { new Thread(() -> {}).start(); System.exit(0); }
                }
                """);

        for (ArchRule rule : ALL) {
            assertThat(violations(rule, valid)).as(rule.getDescription()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "internal.value, org.slf4j.Logger",
        "internal.value, java.sql.Connection",
        "internal.value, io.carillon.Carillon",
        "internal.value, io.carillon.run.Other",
        "run, javax.sql.DataSource",
        "run, io.carillon.internal.store.Other",
        "run, org.postgresql.PGConnection",
        "internal.store, io.carillon.internal.engine.Other",
        "internal.store, java.sql.PreparedStatement",
        "internal.engine, io.carillon.internal.postgres.Other",
        "internal.engine, java.sql.ResultSet",
        "internal.engine, org.postgresql.PGConnection",
        "internal.postgres, io.carillon.internal.engine.Other",
        "internal.postgres, tools.jackson.databind.ObjectMapper",
        "internal.jdbc, io.carillon.run.Other",
        "server, io.carillon.internal.postgres.Other",
        "cli, io.carillon.internal.engine.Other",
        "embedded, io.carillon.internal.value.Other",
    })
    void a_package_with_a_forbidden_dependency_is_stopped(String packageName, String known) throws IOException {
        JavaClasses sample = compiled(
                "package io.carillon.%s; final class Bad { %s[] known; }".formatted(packageName, known),
                "package io.carillon; public class Carillon {}",
                "package io.carillon.internal.value; public class Other {}",
                "package io.carillon.run; public class Other {}",
                "package io.carillon.internal.store; public class Other {}",
                "package io.carillon.internal.engine; public class Other {}",
                "package io.carillon.internal.postgres; public class Other {}");

        assertThat(violations(ArchitectureRules.PACKAGES_USE_ONLY_WHAT_THE_PLAN_ALLOWS, sample))
                .singleElement()
                .asString()
                .startsWith(packageName + " must not use " + known);
    }

    @Test
    void the_api_may_not_use_the_driver() throws IOException {
        JavaClasses sample = compiled("package io.carillon; final class Runs { org.postgresql.PGConnection driver; }");

        assertThat(violations(ArchitectureRules.PACKAGES_USE_ONLY_WHAT_THE_PLAN_ALLOWS, sample))
                .singleElement()
                .asString()
                .startsWith("the entry points of io.carillon must not use org.postgresql.PGConnection");
    }

    @Test
    void a_package_outside_the_plan_is_stopped() throws IOException {
        JavaClasses sample = compiled("package io.carillon.util; final class Misc {}");

        assertThat(violations(ArchitectureRules.EVERY_PACKAGE_IS_IN_THE_PLAN, sample))
                .containsExactly("io.carillon.util.Misc is outside the plan: add its package to PackageRule.PLAN");
    }

    @Test
    void a_cycle_through_a_sub_package_is_stopped() throws IOException {
        JavaClasses sample = compiled(
                "package io.carillon.run; public class One { io.carillon.run.inner.Two two; }",
                "package io.carillon.run.inner; public class Two { io.carillon.run.One one; }");

        assertThat(violations(ArchitectureRules.NO_PACKAGE_CYCLES, sample))
                .singleElement()
                .asString()
                .contains("Cycle detected");
    }

    @Test
    void a_cycle_through_the_api_is_stopped() throws IOException {
        JavaClasses sample = compiled(
                "package io.carillon; public class Carillon { io.carillon.internal.engine.Back back; }",
                "package io.carillon.internal.engine; public class Back { io.carillon.Carillon api; }");

        assertThat(violations(ArchitectureRules.NO_PACKAGE_CYCLES, sample)).hasSize(1);
        assertThat(violations(ArchitectureRules.NO_INTERNAL_PACKAGE_USES_AN_ENTRY_POINT, sample))
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "java.time.Instant.now()",
                "(java.util.function.Supplier<Object>) java.time.Instant::now",
                "java.time.LocalDate.now()",
                "java.time.ZonedDateTime.now(java.time.ZoneOffset.UTC)",
                "java.time.Year.now()",
                "java.time.Clock.systemUTC()",
                "java.time.Clock.tickSeconds(java.time.ZoneOffset.UTC)",
                "java.time.InstantSource.system()",
                "System.currentTimeMillis()",
                "new java.util.Date()",
                "java.util.Calendar.getInstance()",
                "new java.util.GregorianCalendar()",
            })
    void another_wall_clock_is_stopped(String clock) throws IOException {
        assertStops(ArchitectureRules.ONE_CLASS_READS_THE_WALL_CLOCK, clock);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "new Thread(() -> {})",
                "new Thread() {}",
                "(java.util.function.Function<Runnable, Object>) Thread::new",
                "new java.util.Timer()",
                "java.util.concurrent.Executors.newCachedThreadPool()",
                "new java.util.concurrent.ForkJoinPool()",
                "java.util.concurrent.ForkJoinPool.commonPool()",
            })
    void a_thread_that_the_thread_factory_does_not_create_is_stopped(String thread) throws IOException {
        assertStops(ArchitectureRules.THREADS_ARE_MADE_IN_ONE_PLACE, thread);
    }

    @ParameterizedTest
    @ValueSource(strings = {"System.exit(1)", "Runtime.getRuntime().halt(1)", "Runtime.getRuntime().exit(1)"})
    void a_library_that_ends_the_jvm_is_stopped(String end) throws IOException {
        assertStops(ArchitectureRules.ONLY_THE_COMMAND_ENDS_THE_JVM, "(Runnable) () -> " + end);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "new java.io.ObjectInputStream(java.io.InputStream.nullInputStream()).readObject()",
                "new java.io.ObjectOutputStream(java.io.OutputStream.nullOutputStream())",
            })
    void java_serialization_is_stopped(String use) throws IOException {
        assertStops(ArchitectureRules.NO_JAVA_SERIALIZATION, use);
    }

    @Test
    void a_public_signature_with_an_internal_type_is_stopped() throws IOException {
        JavaClasses sample = compiled("package io.carillon.internal.store; public class Row {}", """
                package io.carillon.run;
                public class Sample {
                    public java.util.List<io.carillon.internal.store.Row[]> rows() { return java.util.List.of(); }
                    io.carillon.internal.store.Row hidden;
                }
                """);

        assertThat(violations(ArchitectureRules.API_SIGNATURES_MENTION_ONLY_API_TYPES, sample))
                .containsExactly("io.carillon.run.Sample.rows() mentions io.carillon.internal.store.Row");
    }

    private void assertStops(ArchRule rule, String expression) throws IOException {
        JavaClasses sample = compiled("""
                package io.carillon.internal.postgres;
                class Bad { Object bad() throws Exception { return %s; } }
                """.formatted(expression));

        assertThat(violations(rule, sample)).isNotEmpty();
    }

    private JavaClasses compiled(String... sources) throws IOException {
        var result = Javac.compile(classes, List.of("-proc:none"), sources);
        assertThat(result.compiled()).as("%s", result.messages()).isTrue();
        return new ClassFileImporter().importPath(classes);
    }

    private static List<String> violations(ArchRule rule, JavaClasses sample) {
        return rule.evaluate(sample).getFailureReport().getDetails();
    }
}
