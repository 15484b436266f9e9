package io.carillon.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.carillon.Carillon;
import io.carillon.run.HandlerType;
import io.carillon.testkit.TestDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Runs the engine on a newer JDK than the build JDK, if one is installed: handlers run on virtual threads there. */
class NewerJdkTest {
    record Item(int number) {}

    private static final HandlerType<Item> ITEM = HandlerType.of("item", Item.class);
    private static final int ITEMS = 200;

    @Test
    void the_engine_works_on_a_newer_jdk_with_virtual_threads() throws Exception {
        Optional<Path> java = newerJava();
        assumeTrue(java.isPresent(), "no newer JDK found; set CARILLON_TEST_NEWER_JAVA_HOME to its directory");
        try (TestDatabase database = TestDatabase.migrated()) {
            Process process = new ProcessBuilder(
                            java.orElseThrow().toString(),
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            NewerJdkTest.class.getName(),
                            database.jdbcUrl(),
                            database.user(),
                            database.password())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(output).contains("all done on virtual threads");
        }
    }

    /** The program that the newer JDK runs. */
    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(arguments[0]);
        dataSource.setUser(arguments[1]);
        dataSource.setPassword(arguments[2]);
        CountDownLatch done = new CountDownLatch(ITEMS);
        CountDownLatch virtual = new CountDownLatch(ITEMS);
        try (Carillon carillon = Carillon.on(dataSource)
                .handle(ITEM, (item, run) -> {
                    if (Thread.currentThread().toString().startsWith("VirtualThread")) virtual.countDown();
                    done.countDown();
                })
                .start()) {
            carillon.enqueueAll(
                    ITEM, IntStream.range(0, ITEMS).mapToObj(Item::new).toList());
            if (done.await(30, TimeUnit.SECONDS) && virtual.getCount() == 0)
                System.out.println("all done on virtual threads");
        }
    }

    private static Optional<Path> newerJava() throws IOException {
        String home = System.getenv("CARILLON_TEST_NEWER_JAVA_HOME");
        if (home != null && !home.isBlank()) return Optional.of(Path.of(home, "bin", "java"));
        Path toolchains = Path.of(System.getProperty("user.home"), ".m2", "toolchains.xml");
        if (!Files.exists(toolchains)) return Optional.empty();
        try (Stream<String> lines = Files.lines(toolchains)) {
            return lines.map(String::strip)
                    .filter(line -> line.startsWith("<jdkHome>"))
                    .map(line -> Path.of(line.replaceAll("</?jdkHome>", ""), "bin", "java"))
                    .filter(Files::isExecutable)
                    .findFirst();
        }
    }
}
