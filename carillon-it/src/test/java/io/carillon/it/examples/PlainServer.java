package io.carillon.it.examples;

import io.carillon.Carillon;
import io.carillon.Wakeup;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** A long-running server: it plans and executes until it is stopped, and on SIGTERM it lets running attempts finish. */
public final class PlainServer {
    record Greeting(String to) {}

    static final HandlerType<Greeting> GREET = HandlerType.of("greeting", Greeting.class);

    private PlainServer() {}

    /** Starts the server. The wake-up mode comes from a setting, such as an environment variable. */
    static Carillon start(DataSource dataSource, String wakeup, Consumer<String> greet) {
        Carillon carillon = Carillon.on(dataSource)
                .wakeup(Wakeup.named(wakeup, null))
                .handle(GREET, (greeting, run) -> greet.accept(greeting.to()))
                .schedule("greet-the-world", When.every(Duration.ofMinutes(1)), GREET, new Greeting("world"))
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(carillon::close));
        return carillon;
    }
}
