package io.carillon.it.examples;

import io.carillon.Carillon;
import io.carillon.TickResult;
import io.carillon.run.HandlerType;
import io.carillon.store.Wakeup;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** A serverless function: the platform keeps one instance between calls, and each call works for as long as it is allowed to. No thread outlives a call. */
public final class FunctionTick implements AutoCloseable {
    record Greeting(String to) {}

    static final HandlerType<Greeting> GREET = HandlerType.of("greeting", Greeting.class);

    private final Carillon carillon;

    /** Once for each instance of the function. Two connections are enough. */
    public FunctionTick(DataSource dataSource, Consumer<String> greet) {
        carillon = Carillon.on(dataSource)
                .wakeup(Wakeup.http())
                .handle(GREET, (greeting, run) -> greet.accept(greeting.to()))
                .start();
    }

    /** The function itself, called by a timer of the platform; the budget stays below the platform's limit. */
    public TickResult handle(Duration budget) {
        return carillon.tick(budget);
    }

    @Override
    public void close() {
        carillon.close();
    }
}
