package io.carillon.testkit;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Creates the objects that {@link CarillonTest} offers when a test first requests them. JUnit closes them after the
 * test class.
 */
final class CarillonExtension implements ParameterResolver, BeforeEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(CarillonExtension.class);

    private static final Map<Class<?>, Function<TestDatabase, Object>> PARAMETER_FACTORIES = Map.of(
            TestDatabase.class, database -> database,
            TestClock.class, TestDatabase::clock,
            CarillonKit.class, CarillonKit::on,
            FaultProxy.class, FaultProxy::inFrontOf);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return PARAMETER_FACTORIES.containsKey(parameter.getParameter().getType());
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return resolve(parameter.getParameter().getType(), context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        Class<?> test = context.getRequiredTestClass();
        while (!test.isAnnotationPresent(CarillonTest.class) && test.getEnclosingClass() != null) {
            test = test.getEnclosingClass();
        }
        CarillonTest annotation = test.getAnnotation(CarillonTest.class);
        if (annotation != null && !annotation.at().isEmpty()) {
            resolve(TestClock.class, context).stopAt(Instant.parse(annotation.at()));
        }
    }

    private static <T> T resolve(Class<T> type, ExtensionContext context) {
        Store store = outermostClass(context).getStore(NAMESPACE);
        TestDatabase database = getOrCreate(store, TestDatabase.class, TestDatabase::migrated);
        if (type == TestDatabase.class) return type.cast(database);
        Function<TestDatabase, Object> factory = PARAMETER_FACTORIES.getOrDefault(type, any -> database);
        return getOrCreate(store, type, () -> type.cast(factory.apply(database)));
    }

    private static <T> T getOrCreate(Store store, Class<T> type, Supplier<T> create) {
        // getOrComputeIfAbsent and CloseableResource exist in JUnit 5 and 6; their successors only since JUnit 5.13.
        Object value = store.getOrComputeIfAbsent(type, any -> new StoredValue(create.get()), StoredValue.class)
                .value();
        return type.cast(value);
    }

    /** A value that JUnit closes with the store, if it can be closed. */
    private record StoredValue(Object value) implements Store.CloseableResource {
        @Override
        public void close() throws Exception {
            if (value instanceof AutoCloseable closeable) closeable.close();
        }
    }

    /** Returns the outermost class, because nested classes share its database. */
    private static ExtensionContext outermostClass(ExtensionContext context) {
        ExtensionContext outermost = context;
        for (Optional<ExtensionContext> up = context.getParent();
                up.isPresent() && up.get().getTestClass().isPresent();
                up = up.get().getParent()) {
            outermost = up.get();
        }
        return outermost;
    }
}
