package io.carillon.testkit;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Makes what {@link CarillonTest} promises when it is first asked for; JUnit closes it with the test class. */
final class CarillonExtension implements ParameterResolver, BeforeEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(CarillonExtension.class);

    private static final Map<Class<?>, Function<TestDatabase, Object>> GIVEN = Map.of(
            TestDatabase.class, database -> database,
            TestClock.class, TestDatabase::clock,
            CarillonKit.class, CarillonKit::on,
            FaultProxy.class, FaultProxy::before);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return GIVEN.containsKey(parameter.getParameter().getType());
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return given(parameter.getParameter().getType(), context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        Class<?> test = context.getRequiredTestClass();
        while (!test.isAnnotationPresent(CarillonTest.class) && test.getEnclosingClass() != null) {
            test = test.getEnclosingClass();
        }
        CarillonTest wish = test.getAnnotation(CarillonTest.class);
        if (wish != null && !wish.at().isEmpty()) {
            given(TestClock.class, context).at(Instant.parse(wish.at()));
        }
    }

    private static <T> T given(Class<T> type, ExtensionContext context) {
        Store store = outermostClass(context).getStore(NAMESPACE);
        TestDatabase database =
                store.computeIfAbsent(TestDatabase.class, any -> TestDatabase.migrated(), TestDatabase.class);
        if (type == TestDatabase.class) return type.cast(database);
        Function<TestDatabase, Object> made = GIVEN.getOrDefault(type, any -> database);
        return store.computeIfAbsent(type, any -> type.cast(made.apply(database)), type);
    }

    /** Nested classes share the database of the class around them. */
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
