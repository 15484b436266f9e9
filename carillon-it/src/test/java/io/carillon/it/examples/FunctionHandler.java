package io.carillon.it.examples;

import io.carillon.Carillon;
import io.carillon.RunDueResult;
import io.carillon.Wakeup;
import io.carillon.run.HandlerType;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * A serverless function. The platform keeps one instance between calls; each call executes due runs within its budget,
 * and no thread continues after the call.
 */
public final class FunctionHandler implements AutoCloseable {
    record Greeting(String to) {}

    static final HandlerType<Greeting> GREET = HandlerType.of("greeting", Greeting.class);

    private final Carillon carillon;

    /** Called once for each instance of the function. Two connections are enough. */
    public FunctionHandler(DataSource dataSource, Consumer<String> greet) {
        carillon = Carillon.on(dataSource)
                .wakeup(Wakeup.http())
                .handle(GREET, (greeting, run) -> greet.accept(greeting.to()))
                .start();
    }

    /** The function that a timer of the platform calls. The budget must be shorter than the platform's limit. */
    public RunDueResult handle(Duration budget) {
        return carillon.runDue(budget);
    }

    @Override
    public void close() {
        carillon.close();
    }
}
